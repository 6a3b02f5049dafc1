#include "agent.hpp"

#include <cstdio>
#include <random>
#include <utility>

#include "answers.hpp"
#include "backoff.hpp"
#include "detached.hpp"
#include "names.hpp"
#include "registration.hpp"

namespace tenon::consul {

namespace {

constexpr std::size_t most_connections = 4;  // besides those of blocking queries
constexpr Duration first_pause = std::chrono::milliseconds(100);
constexpr Duration longest_pause = std::chrono::seconds(2);
constexpr Duration between_complaints = std::chrono::seconds(10);
constexpr Duration parting_limit = std::chrono::seconds(2);
constexpr Duration session_used_for = std::chrono::seconds(5);
constexpr const char* session_body =
    R"({"Name":"tenon-left","TTL":"10s","Behavior":"delete","LockDelay":"0s","Checks":[],"NodeChecks":[]})";
// Any answer shows that the agent is there; this one is small.
constexpr std::string_view probe_path = "/v1/agent/service/tenon-probe";
constexpr std::size_t shown_of_answer = 200;

// 64 bits of the system's random numbers.
std::string random_text() {
  std::random_device random;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%08x%08x", random(), random());
  return digits;
}

std::shared_ptr<const Connection::Settings> settings_of(const ConsulOptions& options) {
  auto settings = std::make_shared<Connection::Settings>();
  settings->to = *parse_agent_address(options.address);
  const bool bracket = settings->to.host.find(':') != std::string::npos;
  settings->name = (bracket ? "[" + settings->to.host + "]" : settings->to.host) + ":" + settings->to.port;
  settings->token = options.token;
  settings->connect_timeout = options.connect_timeout;
  settings->max_answer = options.max_answer;
  return settings;
}

Errc code_of(unsigned status) {
  if (status == 404) return Errc::not_found;
  if (status == 401 || status == 403) return Errc::permission_denied;
  if (status == 429) return Errc::overloaded;
  if (status >= 400 && status < 500) return Errc::invalid_argument;
  return status >= 500 ? Errc::unavailable : Errc::malformed;
}

}  // namespace

Dependant::~Dependant() = default;

/// co_await Free(agent): a connection may be used; give_back() afterwards.
class Agent::Free {
 public:
  explicit Free(Agent& agent) : agent_(agent) {}
  bool await_ready() const noexcept { return agent_.lent_ < most_connections; }
  void await_suspend(std::coroutine_handle<> caller) {
    caller_ = caller;
    agent_.waiting_.push_back(this);
  }
  std::shared_ptr<Connection> await_resume() {
    ++agent_.lent_;
    if (agent_.idle_.empty()) return agent_.connect();
    std::shared_ptr<Connection> one = std::move(agent_.idle_.back());
    agent_.idle_.pop_back();
    return one;
  }
  void go() { caller_.resume(); }

 private:
  Agent& agent_;
  std::coroutine_handle<> caller_;
};

Agent::Agent(ConsulOptions options, Environment environment)
    : environment_(environment),
      options_(std::move(options)),
      settings_(settings_of(options_)),
      process_(random_text()),
      closed_since_(environment.clock.now()),
      alarm_(environment.clock) {}

void Agent::start() {
  if (std::exchange(started_, true)) return;
  struct Begin : Work {
    std::shared_ptr<Agent> agent;
  };
  auto* begin = new Begin;
  begin->agent = shared_from_this();
  begin->run = [](Work* work) noexcept {
    const std::unique_ptr<Begin> self(static_cast<Begin*>(work));
    run_detached(Agent::run(self->agent));
  };
  environment_.executor.post(*begin);
}

void Agent::stop() noexcept {
  const std::shared_ptr<Agent> self = shared_from_this();
  if (std::exchange(stopped_, true)) return;
  const bool was_open = std::exchange(open_, false);
  std::vector<Standing> left;
  for (Dependant* each : std::set(dependants_))
    if (dependants_.contains(each)) each->on_stop(left);
  const Error ended = trouble();
  for (const auto& each : std::vector(connections_))
    if (const std::shared_ptr<Connection> connection = each.lock()) connection->abort(ended);
  while (!waiting_.empty()) {
    Free* const next = waiting_.front();
    waiting_.pop_front();
    next->go();
  }
  alarm_.ring();
  tell();
  if (was_open && !left.empty()) run_detached(part(self, std::move(left)));
}

TimePoint Agent::hopeless_at() const noexcept { return open_ ? never : closed_since_ + options_.connect_timeout; }

Error Agent::trouble() const {
  if (stopped_) return Error(Errc::unavailable, "the registry has ended", Delivery::not_run, Advice::never);
  if (trouble_) return trouble_;
  return Error(Errc::unavailable, "the Consul agent at " + name() + " has not answered yet", Delivery::not_run);
}

void Agent::doubt() noexcept {
  if (stopped_) return;
  doubted_ = true;
  alarm_.ring();
}

void Agent::tell() {
  const std::shared_ptr<Agent> self = shared_from_this();
  for (Dependant* each : std::set(dependants_))
    if (dependants_.contains(each)) each->on_change();
}

void Agent::set_open(bool open) {
  if (open_ && !open) closed_since_ = clock().now();
  open_ = open;
  tell();
}

void Agent::complain(const Error& error) {
  trouble_ = error;
  if (clock().now() < next_complaint_) return;
  next_complaint_ = clock().now() + between_complaints;
  log().warn("consul", error.text() + "; what is known stays in use, trying again");
}

std::string Agent::local(std::string_view path, std::string_view query) {
  std::string target(path);
  if (!query.empty()) target += "?" + std::string(query);
  return target;
}

std::string Agent::global(std::string_view path, std::string_view query) const {
  std::string all(query);
  if (!options_.datacenter.empty()) all += (all.empty() ? "dc=" : "&dc=") + options_.datacenter;
  return local(path, all);
}

std::string Agent::new_owner() { return process_ + "-" + std::to_string(++owners_); }

std::shared_ptr<Connection> Agent::connect() {
  std::erase_if(connections_, [](const auto& each) { return each.expired(); });
  auto connection = std::make_shared<Connection>(environment_.executor.context(), settings_);
  connections_.push_back(connection);
  return connection;
}

void Agent::give_back(std::shared_ptr<Connection> connection) {
  --lent_;
  if (stopped_) return;
  idle_.push_back(std::move(connection));
  if (waiting_.empty()) return;
  Free* const next = waiting_.front();
  waiting_.pop_front();
  next->go();
}

Task<Result<Answer>> Agent::ask(std::shared_ptr<Agent> agent, Verb verb, std::string target, std::string body) {
  const Request request{verb, std::move(target), std::move(body), agent->request_limit()};
  Free free(*agent);
  std::shared_ptr<Connection> connection = co_await free;
  if (!agent->open_) {
    agent->give_back(std::move(connection));
    co_return agent->trouble();
  }
  auto exchange = connection->ask(request);
  Result<Answer> answer = co_await exchange;
  agent->give_back(std::move(connection));
  if (!answer.ok() && answer.error().code() != Errc::too_large) agent->doubt();
  co_return std::move(answer);
}

Error Agent::refusal(const std::string& what, const Answer& answer) const {
  std::string said = answer.body.substr(0, shown_of_answer);
  while (!said.empty() && (said.back() == '\n' || said.back() == '\r')) said.pop_back();
  std::string text = what + ": the Consul agent at " + name() + " answers " + std::to_string(answer.status) +
                     (said.empty() ? "" : " (" + said + ")");
  if (answer.status == 403 || answer.status == 401) text += "; give a token that may do this";
  return Error(code_of(answer.status), std::move(text), Delivery::maybe_run);
}

Task<Result<Answer>> Agent::demand(std::shared_ptr<Agent> agent, std::string what, Verb verb, std::string target,
                                   std::string body) {
  Task<Result<Answer>> asking = ask(agent, verb, std::move(target), std::move(body));
  Result<Answer> answer = co_await asking;
  if (!answer.ok()) co_return std::move(answer).error().prefix(what);
  if (answer->status != 200) co_return agent->refusal(what, *answer);
  co_return std::move(answer);
}

Task<bool> Agent::wait_open(std::shared_ptr<Agent> agent, TimePoint until) {
  struct Waiter final : Dependant {
    explicit Waiter(Agent& agent) : agent_(agent), bell(agent.clock()) { agent_.attach(*this); }
    ~Waiter() override { agent_.detach(*this); }
    void on_change() override { bell.ring(); }
    void on_stop(std::vector<Standing>&) override {}
    Agent& agent_;
    Bell bell;
  };
  Waiter waiter(*agent);
  while (!agent->open_ && !agent->stopped_) {
    if (agent->clock().now() >= until) co_return false;
    (void)co_await waiter.bell.wait(until);
  }
  co_return agent->open_;
}

Task<Result<std::string>> Agent::leaving_session(std::shared_ptr<Agent> agent) {
  if (!agent->leaving_.empty() && agent->clock().now() < agent->leaving_until_) co_return agent->leaving_;
  const TimePoint begun = agent->clock().now();
  const std::string target = agent->global("/v1/session/create");
  Task<Result<Answer>> asking = demand(agent, "cannot make a session", Verb::put, target, session_body);
  const Result<Answer> answer = co_await asking;
  if (!answer.ok()) co_return answer.error();
  auto id = read_session(answer->body);
  if (!id.ok()) co_return std::move(id).error();
  agent->leaving_ = *id;
  agent->leaving_until_ = begun + session_used_for;
  co_return std::move(id);
}

// Looks whether it is there: every heartbeat while it is, soon after a doubt, with pauses while it is not.
Task<void> Agent::run(std::shared_ptr<Agent> self) {
  Backoff backoff(first_pause, longest_pause);
  Backoff doubts(first_pause, longest_pause);
  const std::shared_ptr<Connection> connection = self->connect();
  const Request probe{Verb::get, std::string(probe_path), {}, self->request_limit()};
  while (!self->stopped_) {
    self->doubted_ = false;
    const bool was_open = self->open_;
    auto exchange = connection->ask(probe);
    const Result<Answer> answer = co_await exchange;
    if (self->stopped_) break;
    Duration pause = self->options_.heartbeat;
    if (!answer.ok()) {
      self->complain(answer.error());
      if (was_open) self->set_open(false);
      pause = backoff.next();
    } else {
      if (!was_open && self->trouble_ && self->generation_ > 0)
        self->log().info("consul", "the Consul agent at " + self->name() + " answers again");
      self->trouble_ = Error();
      self->next_complaint_ = {};
      // Who has broken a connection may have forgotten what it was told.
      if (!was_open || self->generation_ == 0 || std::exchange(self->doubtful_, false)) {
        ++self->generation_;
        self->set_open(true);
      }
      backoff.reset();
    }
    if (self->stopped_) break;
    if (!self->doubted_) (void)co_await self->alarm_.wait(self->clock().now() + pause);
    if (!self->doubted_) {
      doubts.reset();
    } else if (self->open_) {
      self->doubtful_ = true;
      // Many may doubt at once, and again and again.
      const TimePoint until = self->clock().now() + doubts.next();
      while (!self->stopped_ && self->clock().now() < until) (void)co_await self->alarm_.wait(until);
    }
  }
}

// Takes off what the registry has left, with a connection of its own.
Task<void> Agent::part(std::shared_ptr<Agent> self, std::vector<Standing> left) {
  const auto until = std::chrono::steady_clock::now() + parting_limit;
  const auto connection = std::make_shared<Connection>(self->environment_.executor.context(), self->settings_);
  for (const Standing& each : left) {
    const Duration limit = until - std::chrono::steady_clock::now();
    if (limit <= Duration::zero()) break;
    const Request look{Verb::get, "/v1/agent/service/" + escape(each.id), {}, limit};
    auto looking = connection->ask(look);
    const Result<Answer> seen = co_await looking;
    if (!seen.ok()) break;
    if (seen->status != 200) continue;
    const auto there = read_agent_service(seen->body);
    if (!there.ok() || owner_of(stamp_of(*there)) != each.owner) continue;
    const Request remove{Verb::put, "/v1/agent/service/deregister/" + escape(each.id), {}, limit};
    auto removing = connection->ask(remove);
    const Result<Answer> removed = co_await removing;
    if (!removed.ok()) break;
  }
}

}  // namespace tenon::consul
