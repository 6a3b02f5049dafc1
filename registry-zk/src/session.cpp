#include "session.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "layout.hpp"
#include "reconciler.hpp"

namespace tenon::zk {

namespace {

constexpr Duration first_pause = std::chrono::milliseconds(100);
constexpr Duration longest_pause = std::chrono::seconds(4);  // back within session timeout + 5 s of the server
constexpr Duration shortest_attempt = std::chrono::seconds(2);
constexpr Duration between_warnings = std::chrono::seconds(10);
constexpr std::chrono::milliseconds tombstones_last{500};  // consumers need that to see them
// A server that cannot take what a client says when it comes back (jute.maxbuffer) ends the connection at once, each
// time, and the session lives on.
constexpr Duration short_life = std::chrono::milliseconds(300);
constexpr int most_short_lives = 10;
constexpr const char* cause = "zookeeper";

std::string seconds(Duration time) {
  const auto tenths = std::chrono::duration_cast<std::chrono::milliseconds>(time).count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

// Our address towards another: what the routing table says, without a packet being sent.
std::string address_towards(const sockaddr_storage& peer, socklen_t length) {
  const int probe = ::socket(peer.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return {};
  sockaddr_storage own{};
  socklen_t own_length = sizeof own;
  const bool known = ::connect(probe, reinterpret_cast<const sockaddr*>(&peer), length) == 0 &&
                     ::getsockname(probe, reinterpret_cast<sockaddr*>(&own), &own_length) == 0;
  ::close(probe);
  char text[INET6_ADDRSTRLEN] = {};
  if (known && own.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(own).sin_addr, text, sizeof text);
    return text;
  }
  if (known && own.ss_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(own).sin6_addr, text, sizeof text);
    return "[" + std::string(text) + "]";
  }
  return {};
}

}  // namespace

Session::Session(SessionOptions options, Environment environment)
    : options_(std::move(options)),
      executor_(environment.executor),
      clock_(environment.clock),
      log_(environment.log),
      client_log_(std::make_shared<ClientLog>(environment.log)),
      timeout_(options_.client.session_timeout),
      host_(options_.host),
      hopeless_at_(clock_.now() + options_.connect_timeout),
      backoff_(first_pause, longest_pause),
      bell_(clock_) {
  hope_.session = watchdog_.session = reopening_.session = this;
  hope_.fire = [](Alarm* alarm) { static_cast<Timer*>(alarm)->session->give_up_hope(); };
  watchdog_.fire = [](Alarm* alarm) { static_cast<Timer*>(alarm)->session->give_up_session(); };
  reopening_.fire = [](Alarm* alarm) { static_cast<Timer*>(alarm)->session->open(); };
  clock_.arm(hope_, hopeless_at_);
  open();
}

Session::~Session() { stop(); }

void Session::stop() {
  if (std::exchange(stopped_, true)) return;
  for (Timer* timer : {&hope_, &watchdog_, &reopening_}) clock_.cancel(*timer);
  connected_ = false;
  reason_ = "the registry is being closed";
  client_log_->detach();
  const bool lingers = std::any_of(attached_.begin(), attached_.end(), [](Reconciler* one) { return one->lingers(); });
  if (lingers && client_) client_->linger(tombstones_last);
  std::exchange(client_, nullptr).reset();  // ends what is under way, which finds no client any more
  while (!attached_.empty()) {
    Reconciler* const one = attached_.back();
    attached_.pop_back();
    one->orphan();
  }
  interests_.clear();
  bell_.ring();
}

void Session::open() {
  ClientOptions client = options_.client;
  const Duration attempt = std::max<Duration>(shortest_attempt, client.session_timeout * 2 / 3);
  Client::Listener& listener = *this;
  client_ = std::make_unique<Client>(std::move(client), listener, executor_, client_log_);
  clock_.cancel(watchdog_);
  clock_.arm(watchdog_, clock_.now() + attempt);
}

void Session::reopen(Duration pause) {
  connected_ = false;
  clock_.cancel(watchdog_);
  clock_.cancel(reopening_);
  clock_.arm(reopening_, clock_.now() + pause);
  std::exchange(client_, nullptr).reset();  // ends what is under way, which finds no client any more
}

void Session::on_connected(std::int64_t session, Duration timeout) {
  clock_.cancel(watchdog_);
  clock_.cancel(hope_);
  connected_ = true;
  connected_at_ = clock_.now();
  hopeless_ = false;
  timeout_ = timeout;
  backoff_.reset();
  const bool is_new = std::exchange(id_, session) != session;
  find_host();
  if (is_new)
    log_.info(cause, options_.label + ": connected, with a new session that lasts " + seconds(timeout));
  else
    log_.info(cause, options_.label + ": connected again, with the same session");
  each([is_new](Reconciler& one) { one.on_ready(is_new); });
  bell_.ring();
}

void Session::on_disconnected() {
  if (!std::exchange(connected_, false)) return;
  reason_ = "the connection was lost";
  hopeless_at_ = clock_.now() + options_.connect_timeout;
  clock_.cancel(hope_);
  clock_.arm(hope_, hopeless_at_);
  short_lives_ = clock_.now() - connected_at_ < short_life ? short_lives_ + 1 : 0;
  if (short_lives_ == most_short_lives) {
    short_lives_ = 0;
    warn_sometimes(Cause::refused,
                   "connections are lost as soon as they stand; starting a new session (is what is "
                   "watched too much for the server's jute.maxbuffer?)");
    return reopen(backoff_.next());
  }
  // The server ends the session after its timeout, but says so only to a client that it can talk to.
  clock_.cancel(watchdog_);
  clock_.arm(watchdog_, clock_.now() + timeout_ * 4 / 3);
  warn_sometimes(Cause::lost, "the connection was lost; connecting again");
}

void Session::on_expired() {
  reason_ = "the session has expired";
  warn_sometimes(Cause::expired, "the session has expired; starting a new one");
  if (!hope_.armed() && !hopeless_) {
    hopeless_at_ = clock_.now() + options_.connect_timeout;
    clock_.arm(hope_, hopeless_at_);
  }
  reopen(backoff_.next());
}

void Session::on_refused(const std::string& reason) {
  reason_ = reason;
  const Duration pause = backoff_.next();
  warn_sometimes(Cause::refused, "no session: " + reason + "; trying again in " + seconds(pause));
  reopen(pause);
}

void Session::give_up_session() {
  const Duration pause = backoff_.next();
  warn_sometimes(Cause::refused, "no connection; giving this attempt up, the next one is in " + seconds(pause));
  reopen(pause);
}

void Session::give_up_hope() {
  hopeless_ = true;
  const Error error = unavailable();
  each([&error](Reconciler& one) { one.on_stale(error); });
  bell_.ring();
}

Error Session::unavailable() const {
  return Error(Errc::unavailable, options_.label + " is not connected: " + reason_ + "; it is tried again and again",
               Delivery::not_run);
}

void Session::warn_sometimes(Cause why, const std::string& text) {
  TimePoint& next = next_warning_[static_cast<std::size_t>(why)];
  if (clock_.now() < next) return;
  next = clock_.now() + between_warnings;
  log_.warn(cause, options_.label + ": " + text);
}

void Session::find_host() {
  if (!options_.host.empty()) return;
  sockaddr_storage server{};
  socklen_t length = 0;
  if (client_->server_address(server, length)) host_ = address_towards(server, length);
  if (host_.empty()) host_ = "localhost";
}

void Session::on_event(const std::string& path) {
  std::vector<std::shared_ptr<Reconciler>> interested;
  std::string_view at = path;
  for (int level = 0; level <= 2 && !at.empty(); ++level, at = parent_of(at)) {
    const auto [begin, end] = interests_.equal_range(std::string(at));
    for (auto each = begin; each != end; ++each) interested.push_back(each->second->shared_from_this());
  }
  for (const auto& one : interested) one->on_event(path);
}

void Session::forget(const std::string& path) {
  Client* const client = usable();
  if (client && interests_.find(path) == interests_.end()) client->forget(path);
}

void Session::attach(Reconciler& reconciler, const std::vector<std::string>& paths) {
  attached_.push_back(&reconciler);
  for (const std::string& path : paths) interests_.emplace(path, &reconciler);
}

void Session::detach(Reconciler& reconciler, const std::vector<std::string>& paths) noexcept {
  std::erase(attached_, &reconciler);
  for (const std::string& path : paths) {
    const auto [begin, end] = interests_.equal_range(path);
    const auto mine = std::find_if(begin, end, [&](const auto& entry) { return entry.second == &reconciler; });
    if (mine != end) interests_.erase(mine);
  }
}

template <class F>
void Session::each(F f) {
  // Whoever is told may let others go.
  std::vector<std::shared_ptr<Reconciler>> all;
  all.reserve(attached_.size());
  for (Reconciler* one : attached_) all.push_back(one->shared_from_this());
  for (const auto& one : all) f(*one);
}

Task<int> make_path(Session& session, std::string path) {
  std::vector<std::string> missing{std::move(path)};
  while (!missing.empty()) {
    const Reply reply = co_await session.create(missing.back(), "");
    if (reply.ok() || reply.code == ZNODEEXISTS) {
      missing.pop_back();
      continue;
    }
    const std::string parent(parent_of(missing.back()));
    if (reply.code != ZNONODE || parent.empty() || missing.size() > 100) co_return reply.code;
    missing.push_back(parent);
  }
  co_return ZOK;
}

Task<bool> wait_ready(Session& session, TimePoint until) {
  while (!session.ready()) {
    if (session.stopped() || session.clock().now() >= until) co_return false;
    (void)co_await session.bell().wait(until);
  }
  co_return true;
}

Error failure(const std::string& what, int code) {
  const std::string text = what + ": " + zerror(code);
  if (is_loss(code)) return Error(Errc::unavailable, text);
  if (code == ZNOAUTH)
    return Error(Errc::permission_denied, text + "; the nodes belong to others, see the option digest_auth");
  if (code == ZNONODE) return Error(Errc::not_found, text);
  if (code == ZNODEEXISTS || code == ZBADVERSION) return Error(Errc::already_exists, text);
  return Error(Errc::internal, text);
}

}  // namespace tenon::zk
