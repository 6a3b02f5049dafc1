#include "announcement.hpp"

#include <algorithm>
#include <utility>

#include "backoff.hpp"
#include "detached.hpp"
#include "names.hpp"

namespace tenon::consul {

namespace {

constexpr Duration first_pause = std::chrono::milliseconds(50);
constexpr Duration longest_pause = std::chrono::seconds(2);
constexpr Duration patience_without_agent = std::chrono::seconds(1);

// What the agent will say again, however often it is asked.
bool is_final(Errc code) noexcept {
  return code == Errc::permission_denied || code == Errc::invalid_argument || code == Errc::too_large;
}

}  // namespace

Announcement::Announcement(std::shared_ptr<Agent> agent, ServiceName service, Instance instance, std::string id,
                           std::shared_ptr<GroupWords> words)
    : agent_(std::move(agent)),
      who_(service.text() + " at " + instance.address),
      id_(std::move(id)),
      owner_(agent_->new_owner()),
      provides_(true),
      service_(std::move(service)),
      instance_(std::move(instance)),
      bell_(agent_->clock()),
      alarm_(agent_->clock()) {
  if (words) words_.emplace(std::move(words), [this] { hear(); });
  number_ = 1;
  renew();
  agent_->attach(*this);
}

Announcement::Announcement(std::shared_ptr<Agent> agent, const Subscription& subscription, std::string id)
    : agent_(std::move(agent)),
      who_("consumer '" + subscription.subscriber + "' of " + subscription.service.text()),
      id_(std::move(id)),
      owner_(agent_->new_owner()),
      provides_(false),
      service_(subscription.service),
      bell_(agent_->clock()),
      alarm_(agent_->clock()) {
  registration_ = consumer_registration(subscription, agent_->options().host, id_);
  number_ = 1;
  renew();
  agent_->attach(*this);
}

Announcement::~Announcement() { agent_->detach(*this); }

void Announcement::begin(std::shared_ptr<Announcement> predecessor) {
  run_detached(run(shared_from_this(), std::move(predecessor)));
}

// What is to be registered now.
void Announcement::renew() {
  if (provides_) {
    Instance shown = instance_;
    if (operator_ && operator_->has_weight) shown.weight = operator_->weight;
    if (operator_ && operator_->has_serving) shown.serving = operator_->serving;
    registration_ = provider_registration(service_, shown, id_);
  }
  registration_.stamp = owner_ + "." + std::to_string(number_);
  registration_.ttl = agent_->options().ttl;
  registration_.deregister_after = agent_->options().deregister_after;
}

void Announcement::update(Instance instance) {
  if (withdrawn_) return;
  instance.id = instance_.id;  // it stays the same instance, at the same place
  instance.address = instance_.address;
  instance_ = std::move(instance);
  if (operator_) run_detached(forget_operator());
  operator_.reset();
  ++number_;
  renew();
  refusal_ = Error();
  ++wished_;
  alarm_.ring();
}

void Announcement::withdraw() {
  if (std::exchange(withdrawn_, true)) return;
  refusal_ = Error();
  ++wished_;
  alarm_.ring();
}

// An operator said something: so it is registered in future, and Motan's consumers see it, too.
void Announcement::hear() {
  if (withdrawn_) return;
  const Word* word = words_->words().find(id_);
  if (!word || word->id != instance_.id || word->stamp != registration_.stamp || (operator_ && *operator_ == *word))
    return;
  operator_ = *word;
  renew();
  ++wished_;
  alarm_.ring();
}

void Announcement::on_change() {
  alarm_.ring();
  bell_.ring();
}

void Announcement::on_stop(std::vector<Standing>& left) {
  if (may_stand_ && !yields_) left.push_back({id_, owner_});
}

Error Announcement::trouble() const {
  if (refusal_) return refusal_;
  return agent_->open() && trouble_ ? trouble_ : agent_->trouble();
}

Task<Result<void>> Announcement::put(std::string what, std::string target, std::string body) {
  Task<Result<Answer>> asking = Agent::demand(agent_, std::move(what), Verb::put, std::move(target), std::move(body));
  const Result<Answer> answer = co_await asking;
  if (!answer.ok()) co_return answer.error();
  co_return Result<void>();
}

Task<Result<Announcement::There>> Announcement::look() {
  Task<Result<Answer>> asking = Agent::ask(agent_, Verb::get, Agent::local("/v1/agent/service/" + escape(id_)));
  const Result<Answer> answer = co_await asking;
  if (!answer.ok()) co_return answer.error();
  if (answer->status == 404) co_return There::nothing;
  if (answer->status != 200) co_return agent_->refusal("cannot look at " + who_, *answer);
  const auto found = read_agent_service(answer->body);
  if (!found.ok()) co_return found.error();
  const std::string stamp = stamp_of(*found);
  if (owner_of(stamp) != owner_) {
    const auto provider = read_provider(*found);
    const bool same = provides_ && provider.ok() && provider->instance.id == instance_.id;
    co_return same ? There::before : There::somebody;
  }
  const bool as_wished =
      stamp == registration_.stamp && found->service == registration_.service && found->tags == registration_.tags;
  co_return as_wished ? There::ours : There::older;
}

// Registers it unless it is there as it should be, and passes its check.
Task<Result<void>> Announcement::put_up() {
  There there = There::nothing;
  if (held_) {
    Task<Result<There>> looking = look();
    const Result<There> seen = co_await looking;
    if (!seen.ok()) co_return seen.error();
    there = *seen;
  }
  if (there == There::somebody) {
    if (!std::exchange(yields_, true))
      agent_->log().warn("consul",
                         who_ + ": another process has registered itself with this address; it has the place");
    co_return Error(Errc::already_exists, who_ + ": another process has registered itself at this address",
                    Delivery::not_run);
  }
  yields_ = false;
  // From here on it is one wish that is fulfilled.
  const Registration wish = registration_;
  if (there != There::ours) {
    may_stand_ = true;
    const std::string body = write_registration(wish);
    Task<Result<void>> registering = put("cannot register " + who_, Agent::local("/v1/agent/service/register"), body);
    Result<void> registered = co_await registering;
    if (!registered.ok()) co_return registered;
    held_ = true;
  }
  const std::string verb = wish.serving ? "pass/" : "warn/";
  Task<Result<void>> passing =
      put("cannot report " + who_ + " alive", Agent::local("/v1/agent/check/" + verb + escape(check_id(id_))));
  Result<void> passed = co_await passing;
  co_return passed;
}

// So that consumers know that it left on purpose. Without it they see that it is gone.
Task<void> Announcement::leave_word() {
  Word word;
  word.id = instance_.id;
  word.stamp = registration_.stamp;
  const std::string key = "/v1/kv/" + escape_key(tomb_key(service_.group, id_));
  const std::string text = write_word(word);
  Task<Result<std::string>> opening = Agent::leaving_session(agent_);
  const Result<std::string> session = co_await opening;
  Error why;
  if (session.ok()) {
    Task<Result<Answer>> writing = Agent::demand(agent_, "cannot say that " + who_ + " leaves on purpose", Verb::put,
                                                 agent_->global(key, "acquire=" + escape(*session)), text);
    const Result<Answer> written = co_await writing;
    const Result<bool> done = written.ok() ? read_done(written->body) : Result<bool>(written.error());
    if (done.ok() && !*done) {
      // One of an earlier session is there still; what it says goes with that session.
      Task<Result<Answer>> again =
          Agent::demand(agent_, "cannot say that " + who_ + " leaves on purpose", Verb::put, agent_->global(key), text);
      const Result<Answer> overwritten = co_await again;
      if (!overwritten.ok()) why = overwritten.error();
    } else if (!done.ok()) {
      why = done.error();
    }
  } else {
    why = session.error();
  }
  if (why && !agent_->stopped())
    agent_->log().warn("consul-left", why.text() + "; consumers will see that it is gone, but not that it meant to go");
}

Task<Result<void>> Announcement::take_off() {
  Task<Result<There>> looking = look();
  const Result<There> seen = co_await looking;
  if (!seen.ok()) co_return seen.error();
  if (*seen != There::ours && *seen != There::older) co_return Result<void>();
  if (provides_) {
    Task<void> leaving = leave_word();
    co_await leaving;
  }
  Task<Result<void>> removing =
      put("cannot deregister " + who_, Agent::local("/v1/agent/service/deregister/" + escape(id_)));
  Result<void> removed = co_await removing;
  if (removed.ok() && operator_) run_detached(forget_operator());
  co_return removed;
}

// What an operator said about it is void; this only tidies up, so nobody hears of its failing.
Task<void> Announcement::forget_operator() {
  const std::shared_ptr<Announcement> self = shared_from_this();
  const Word said = *operator_;
  const std::string target = "/v1/kv/" + escape_key(word_key(service_.group, id_));
  Task<Result<Answer>> asking = Agent::ask(agent_, Verb::get, agent_->global(target));
  const Result<Answer> answer = co_await asking;
  if (!answer.ok() || answer->status != 200) co_return;
  const auto entries = read_key_values(answer->body);
  if (!entries.ok() || entries->size() != 1) co_return;
  const auto word = read_word(entries->front().value);
  if (!word.ok() || *word != said) co_return;
  const std::string cas = "cas=" + std::to_string(entries->front().version);
  Task<Result<Answer>> removing = Agent::ask(agent_, Verb::del, agent_->global(target, cas));
  (void)co_await removing;
}

void Announcement::settle(const Result<void>& result, std::uint64_t wish, bool withdrawn) {
  const TimePoint now = agent_->clock().now();
  if (result.ok()) {
    fulfilled_ = wish;
    trouble_ = Error();
    refusal_ = Error();
    if (withdrawn) may_stand_ = false;
    next_beat_ = now + agent_->options().heartbeat;
  } else {
    trouble_ = result.error();
    if (is_final(trouble_.code())) {
      fulfilled_ = wish;
      if (wish == wished_) refusal_ = trouble_;
      agent_->log().error("consul", who_ + " is refused: " + trouble_.text());
      // A token may be given its rights later.
      next_beat_ = now + agent_->options().heartbeat;
    }
  }
  bell_.ring();
}

Task<void> Announcement::run(std::shared_ptr<Announcement> self, std::shared_ptr<Announcement> predecessor) {
  const std::shared_ptr<Agent> agent = self->agent_;
  while (predecessor && !predecessor->ended_) (void)co_await predecessor->bell_.wait(never);
  predecessor.reset();
  Backoff backoff(first_pause, longest_pause);
  while (!agent->stopped()) {
    const bool withdrawn = self->withdrawn_;
    if (withdrawn && (self->done() || !self->may_stand_)) {
      if (!self->done()) self->settle(Result<void>(), self->wished_, true);
      break;
    }
    if (!agent->open()) {
      (void)co_await self->alarm_.wait(never);
      continue;
    }
    const bool due = agent->clock().now() >= self->next_beat_;
    if (self->done() && self->knows() && !due) {
      (void)co_await self->alarm_.wait(self->next_beat_);
      continue;
    }
    const std::uint64_t wish = self->wished_;
    const std::uint64_t generation = agent->generation();
    Task<Result<void>> doing = withdrawn ? self->take_off() : self->put_up();
    const Result<void> result = co_await doing;
    if (agent->stopped()) break;
    self->registered_in_ = generation;
    self->settle(result, wish, withdrawn);
    if (result.ok() || self->refusal_ || wish != self->wished_) {
      backoff.reset();
    } else {
      self->next_beat_ = agent->clock().now() + backoff.next();
      const std::uint64_t wished = self->wished_;
      while (agent->open() && self->wished_ == wished && agent->clock().now() < self->next_beat_ &&
             agent->generation() == generation)
        (void)co_await self->alarm_.wait(self->next_beat_);
    }
  }
  self->ended_ = true;
  self->bell_.ring();
}

Task<Result<void>> finish(std::shared_ptr<Announcement> announcement, TimePoint deadline) {
  const Agent& agent = *announcement->agent();
  TimePoint without = never;  // how long it may be without an agent
  while (!announcement->done()) {
    const TimePoint now = agent.clock().now();
    if (agent.open())
      without = never;
    else if (without == never)
      without = now + patience_without_agent;
    const TimePoint until = std::min(deadline, without);
    if (agent.stopped() || now >= until)
      co_return announcement->trouble().prefix("the instance stays listed until its ttl has passed");
    (void)co_await announcement->bell().wait(until);
  }
  if (announcement->refusal()) co_return announcement->refusal();
  co_return Result<void>();
}

}  // namespace tenon::consul
