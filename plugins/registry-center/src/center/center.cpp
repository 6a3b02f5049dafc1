#include "center.hpp"

#include <chrono>
#include <utility>

#include "limits.hpp"
#include "messages.hpp"
#include "secret.hpp"

namespace tenon::center {

namespace {

constexpr std::size_t writes_that_wait = 1000;

Result<void> check(const CenterOptions& options) {
  const auto refuse = [](std::string text) {
    return Error(Errc::config, "center: " + std::move(text), Delivery::not_run, Advice::never);
  };
  using std::chrono::milliseconds;
  if (options.lease < milliseconds(100) || options.lease > std::chrono::hours(1))
    return refuse("lease must be 100ms to 1h");
  if (options.settle < milliseconds(0) || options.settle > std::chrono::hours(1))
    return refuse("settle must be 0s to 1h");
  if (options.preserve_percent < 1 || options.preserve_percent > 100)
    return refuse("preserve_percent must be 1 to 100");
  if (options.preserve_limit > 1000) return refuse("preserve_limit must be 0 to 1000 leases");
  if (options.max_clients == 0 || options.max_instances == 0 || options.max_subscriptions == 0)
    return refuse("max_clients, max_instances and max_subscriptions must not be 0");
  if (options.max_list.bytes < 4096 || options.max_list.bytes > (1u << 30))
    return refuse("max_list must be 4KiB to 1GiB");
  if (options.token.size() > max_token || options.operator_token.size() > max_token)
    return refuse("a token must not have more than " + std::to_string(max_token) + " bytes");
  return {};
}

// Epochs of runs without a store: later ones are higher as long as the clock does not go back. Not used for leases.
std::uint64_t clock_epoch() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

}  // namespace

Result<std::unique_ptr<Center>> Center::create(Options options, Environment environment) {
  if (auto checked = check(options); !checked.ok()) return std::move(checked).error();
  Store::Contents contents;
  contents.epoch = clock_epoch();
  std::unique_ptr<Journal> journal;
  if (options.store.empty()) {
    environment.log.info("center-store", "no store: documents and what operators set are kept in memory only");
  } else {
    auto store = Store::open(options.store, contents.epoch, contents);
    if (!store.ok()) return std::move(store).error();
    environment.log.info("center-store", (*store)->file() + ": " + std::to_string(contents.documents.size()) +
                                             " documents, " + std::to_string(contents.overrides.size()) +
                                             " instances' settings by operators");
    auto started = Journal::start(std::move(*store), writes_that_wait, environment.log);
    if (!started.ok()) return std::move(started).error();
    journal = std::move(*started);
  }
  auto board = std::make_shared<Board>(options, environment, contents.epoch, std::move(journal));
  board->start(std::move(contents));
  return std::unique_ptr<Center>(new Center(std::move(options), std::move(board)));
}

Center::Center(Options options, std::shared_ptr<Board> board)
    : options_(std::move(options)), board_(std::move(board)), functions_(std::string(center::interface)) {
  offer_to_clients();
  offer_to_operators();
}

Center::~Center() { stop(); }

void Center::stop() noexcept {
  if (!stopped_.exchange(true)) board_->stop();
}

void Center::offer_to_clients() {
  Board* const board = board_.get();
  add("open", For::clients, [board](const Opening& opening) { return board->open(opening); });
  add("beat", For::clients, [board](const ClientKey& key) { return board->beat(key); });
  add("announce", For::clients, [board](const ClientKey& key, const ServiceName& service, const Instance& instance) {
    return board->announce(key, service, instance, false);
  });
  add("update", For::clients,
      [shared = board_](const ClientKey& key, const ServiceName& service, const Instance& instance) {
        return Board::update(shared, key, service, instance);
      });
  add("withdraw", For::clients, [board](const ClientKey& key, const ServiceName& service, const std::string& id) {
    return board->withdraw(key, service, id);
  });
  add("close", For::clients, [board](const ClientKey& key) { return board->close(key); });
  functions_.add_stream(
      "watch",
      [shared = board_](const ClientKey& key, const ServiceName& service, const std::string& subscriber,
                        StreamWriter<List>& out) { return Board::watch(shared, key, service, subscriber, out); },
      true);
  who_.push_back(For::clients);
  functions_.add_stream(
      "watch_document",
      [shared = board_](const ClientKey& key, const std::string& kind, const std::string& group,
                        StreamWriter<Document>& out) { return Board::watch_document(shared, key, kind, group, out); },
      true);
  who_.push_back(For::clients);
}

void Center::offer_to_operators() {
  Board* const board = board_.get();
  add("services", For::readers, [board] { return board->services(); });
  add("groups", For::readers, [board] { return board->groups(); });
  add("instances", For::readers, [board](const ServiceName& service) { return board->instances(service); });
  add("subscribers", For::readers, [board](const ServiceName& service) { return board->subscribers(service); });
  add("state", For::readers, [board] { return board->state(); });
  add("read", For::readers,
      [board](const std::string& kind, const std::string& group) { return board->read(kind, group); });
  const std::shared_ptr<Board>& shared = board_;
  constexpr bool once = false;  // a second time it fails with already_exists
  add(
      "write", For::writers, [shared](const Document& document) { return Board::write(shared, document); }, once);
  add(
      "remove", For::writers, [shared](const Document& document) { return Board::remove(shared, document); }, once);
  add("set_weight", For::writers, [shared](const ServiceName& service, const std::string& id, std::uint32_t weight) {
    return Board::set(shared, InstanceName{service, id}, weight, std::nullopt);
  });
  add("set_serving", For::writers, [shared](const ServiceName& service, const std::string& id, bool serving) {
    return Board::set(shared, InstanceName{service, id}, std::nullopt, serving);
  });
}

// What clients may do depends on their keys.
Result<void> Center::allowed(const Request& request) const {
  const For who = who_[request.target->index];
  if (who == For::clients) return {};
  const std::string* const sent = request.headers.find(token_header);
  const std::string_view token = sent ? std::string_view(*sent) : std::string_view();
  const bool separate = !options_.operator_token.empty();
  const bool is_operator = separate && same_secret(token, options_.operator_token);
  const bool has_token = same_secret(token, options_.token);
  if (who == For::writers && separate ? is_operator : options_.token.empty() || has_token || is_operator) return {};
  const std::string from = request.info && request.info->peer ? request.info->peer->peer : "somebody";
  board_->warn_of_token(from + " called " + std::string(request.target->method->name) +
                        (sent ? " with a wrong" : " without a") + " token");
  return Error(Errc::permission_denied,
               "center: " + std::string(request.target->method->name) + " needs the " +
                   (who == For::writers && separate ? "operator's token" : "token") + " in the header " +
                   std::string(token_header) + (sent ? ", and this one is wrong" : ""),
               Delivery::not_run, Advice::never);
}

Task<Result<Response>> Center::call(Request& request) {
  if (auto checked = allowed(request); !checked.ok()) return ready<Result<Response>>(std::move(checked).error());
  return functions_.call(request);
}

}  // namespace tenon::center
