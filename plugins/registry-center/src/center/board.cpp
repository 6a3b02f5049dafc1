#include "board.hpp"

#include "limits.hpp"
#include "secret.hpp"

namespace tenon::center {

namespace {

std::string ms(Duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) + " ms";
}

}  // namespace

Board::Board(const CenterOptions& options, Environment environment, std::uint64_t epoch,
             std::unique_ptr<Journal> journal)
    : options_(options),
      environment_(environment),
      period_(tick_period(options.lease)),
      table_(options, epoch),
      time_(period_),
      journal_(std::move(journal)) {
  tick_.board = push_.board = this;
  tick_.fire = [](Alarm* alarm) { static_cast<Timer*>(alarm)->board->tick(); };
  push_.fire = [](Alarm* alarm) { static_cast<Timer*>(alarm)->board->advance_pushes(); };
}

Board::~Board() = default;

Error Board::gone() {
  return Error(Errc::unavailable, "center: it is stopping", Delivery::not_run, Advice::other_instance);
}

void Board::on_control(Post& post, void (*run)(Work*) noexcept) {
  post.board = shared_from_this();
  post.run = run;
  environment_.executor.post(post);
}

void Board::start(Store::Contents contents) {
  {
    const std::lock_guard lock(door_.mutex);
    table_.texts().load(std::move(contents.documents), contents.sequence);
    table_.operator_state().load(std::move(contents.overrides), time_.now());
  }
  on_control(begin_, [](Work* work) noexcept {
    const std::shared_ptr<Board> board = std::move(static_cast<Post*>(work)->board);
    bool stopped = false;
    {
      const std::lock_guard lock(board->door_.mutex);
      stopped = board->stopped_;
    }
    if (stopped) return;
    board->timing_ = true;
    board->tick();
  });
}

void Board::stop() {
  with([this] {
    stopped_ = true;
    table_.end_all(gone());
  });
  on_control(end_, [](Work* work) noexcept {
    const std::shared_ptr<Board> board = std::move(static_cast<Post*>(work)->board);
    board->timing_ = false;
    board->environment_.clock.cancel(board->tick_);
    board->environment_.clock.cancel(board->push_);
  });
}

// Whatever happened under the mutex, this is done without it: a post may run at once where a loop has ended.
void Board::follow_up() noexcept {
  std::vector<Mailbox*> to_wake;
  std::vector<InstanceName> dropped;
  bool news = false;
  {
    const std::lock_guard lock(door_.mutex);
    to_wake.swap(door_.to_wake);
    dropped = table_.operator_state().take_dropped();
    news = table_.pushes().take_news() && !stopped_ && !std::exchange(pushes_posted_, true);
  }
  Mailbox::wake(std::move(to_wake));
  if (journal_)
    for (InstanceName& of : dropped) journal_->later([of = std::move(of)](Store& store) { return store.forget(of); });
  if (!news) return;
  on_control(push_post_, [](Work* work) noexcept {
    const std::shared_ptr<Board> board = std::move(static_cast<Post*>(work)->board);
    {
      const std::lock_guard lock(board->door_.mutex);
      board->pushes_posted_ = false;
    }
    board->advance_pushes();
  });
}

void Board::tick() noexcept {
  if (!timing_) return;
  Clock& clock = environment_.clock;
  Duration paused{};
  const Round round = with([&] {
    paused = time_.tick(clock.now());
    if (paused > Duration{0}) table_.stood_still(time_.now());
    return table_.tick(time_.now());
  });
  tell(round, paused);
  clock.arm(tick_, clock.now() + period_);
}

void Board::advance_pushes() noexcept {
  if (!timing_) return;
  Clock& clock = environment_.clock;
  const TimePoint next = with([&] { return table_.advance_pushes(clock.now()); });
  clock.cancel(push_);
  if (next != never) clock.arm(push_, next);
}

void Board::tell(const Round& round, Duration paused) {
  Log& log = environment_.log;
  if (paused > Duration{0})
    log.warn("center-paused", "this process stood still for " + ms(paused) + "; every lease goes on so much longer");
  for (const Lost& lost : round.lost)
    log.warn("center-lost", "client " + quoted(lost.name) + " was silent for " + ms(lost.silent) +
                                "; dropped are its " + std::to_string(lost.instances) + " instances and " +
                                std::to_string(lost.subscriptions) + " subscriptions");
  const std::string many = std::to_string(round.missing) + " of " + std::to_string(round.all) + " instances";
  switch (round.preservation) {
    case Preservation::Change::none: break;
    case Preservation::Change::began:
      log.warn("center-preserving", many + " fell silent at once; nobody is dropped for at most " +
                                        ms(options_.preserve_limit * Duration(options_.lease)));
      break;
    case Preservation::Change::healed: log.warn("center-preserving", "over: " + many + " are silent"); break;
    case Preservation::Change::gave_up:
      log.warn("center-preserving", "over: " + many + " did not come back in time and are dropped");
      break;
  }
  if (round.became_whole) log.info("center-whole", "it has run for a lease: what is missing is gone");
}

void Board::warn_of_token(const std::string& who) {
  constexpr Duration between = std::chrono::seconds(10);
  std::uint64_t unnamed = 0;
  {
    const std::lock_guard lock(door_.mutex);
    if (time_.now() < next_token_warning_) {
      ++unnamed_intruders_;
      return;
    }
    next_token_warning_ = time_.now() + between;
    unnamed = std::exchange(unnamed_intruders_, 0);
  }
  environment_.log.warn("center-token", who + (unnamed == 0 ? std::string()
                                                            : "; since the last such line " + std::to_string(unnamed) +
                                                                  " more calls had a wrong token or none"));
}

Result<Opened> Board::open(const Opening& opening) {
  if (!options_.token.empty() && !same_secret(opening.token, options_.token)) {
    warn_of_token("client " + quoted(opening.name) + " came with a wrong token");
    return Error(Errc::permission_denied, "center: client " + quoted(opening.name) + ": wrong token", Delivery::not_run,
                 Advice::never);
  }
  Result<Opened> opened = serve([&] { return table_.open(opening, time_.now()); });
  if (opened.ok())
    environment_.log.info("center-opened", "client " + quoted(opening.name) + ", id " + opening.key.id +
                                               (opened->known ? ", is back" : ""));
  return opened;
}

Result<Beaten> Board::beat(const ClientKey& key) {
  return serve([&] { return table_.beat(key, time_.now()); });
}

Result<void> Board::announce(const ClientKey& key, const ServiceName& service, const Instance& instance, bool update) {
  return serve([&] { return table_.announce(key, service, instance, update, time_.now()); });
}

Result<void> Board::withdraw(const ClientKey& key, const ServiceName& service, const std::string& id) {
  return serve([&] { return table_.withdraw(key, service, id, time_.now()); });
}

Result<void> Board::close(const ClientKey& key) {
  return serve([&] { return table_.close(key, time_.now()); });
}

Result<std::vector<ServiceName>> Board::services() {
  return serve([&]() -> Result<std::vector<ServiceName>> { return table_.services(); });
}

Result<std::vector<Instance>> Board::instances(const ServiceName& service) {
  return serve([&]() -> Result<std::vector<Instance>> { return table_.instances(service); });
}

Result<std::vector<Subscriber>> Board::subscribers(const ServiceName& service) {
  return serve([&]() -> Result<std::vector<Subscriber>> { return table_.subscribers(service); });
}

Result<std::vector<std::string>> Board::groups() {
  return serve([&]() -> Result<std::vector<std::string>> { return table_.groups(); });
}

Result<Document> Board::read(const std::string& kind, const std::string& group) {
  if (auto checked = check_document_name(kind, group); !checked.ok())
    return std::move(checked).error().prefix("center");
  return serve([&]() -> Result<Document> { return table_.texts().read(kind, group); });
}

Result<State> Board::state() {
  return serve([&]() -> Result<State> { return table_.state(time_.now()); });
}

}  // namespace tenon::center
