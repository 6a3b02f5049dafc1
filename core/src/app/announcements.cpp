#include "app/announcements.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "loop/run_on.hpp"
#include "loop/wait_for.hpp"
#include "tenon/scope.hpp"

namespace tenon {

namespace {

/// How long a registry that keeps to its deadline may be late.
constexpr Duration late = std::chrono::milliseconds(100);
/// For taking back what was announced too late.
constexpr Duration taking_back = std::chrono::seconds(1);

}  // namespace

/// One instance in one registry.
struct Announced {
  Announcement what;  // Board::mutex
  std::shared_ptr<Registry> registry;
  std::unique_ptr<Lease> lease;  // the control loop's; null: not announced
  bool withdrawn = false;        // the control loop's; or about to be
  bool changed = false;          // Board::mutex: the registry is still to be told
  std::string text() const {
    return what.service.text() + " at " + what.instance.address + " in registry " + what.registry;
  }
};

struct Announcements::Board {
  explicit Board(Log& l) : log(l) {}
  Log& log;
  mutable std::mutex mutex;  // of what is read by any thread
  std::vector<Announced> all;
  bool announced = false;  // all of them; before, nobody is to know of any
  bool leaving = false;
  bool paused = false;

  Task<Result<void>> announce(Announced& one);
  Task<Result<void>> withdraw(Announced& one, TimePoint deadline);
  bool is_leaving() const {
    const std::lock_guard lock(mutex);
    return leaving;
  }
  void push_updates();
  static void push_soon(std::shared_ptr<Board> board, Loop& control);
};

// `one.what` is written by update() only, which finds nothing before announce() has ended.
Task<Result<void>> Announcements::Board::announce(Announced& one) {
  auto task = one.registry->announce(one.what.service, one.what.instance);
  auto lease = co_await task;
  if (!lease.ok())
    co_return std::move(lease).error().prefix("announcing " + one.what.service.text() + " to registry " +
                                              one.what.registry);
  one.lease = std::move(*lease);
  log.info("announced", one.text());
  if (is_leaving() && !one.withdrawn) {  // nobody waited for it
    auto taken_back = withdraw(one, Executor::current()->clock().now() + taking_back);
    (void)co_await taken_back;
  }
  co_return Result<void>();
}

Task<Result<void>> Announcements::Board::withdraw(Announced& one, TimePoint deadline) {
  one.withdrawn = true;
  auto task = one.lease->withdraw(deadline);
  auto withdrawn = co_await task;
  if (!withdrawn.ok()) log.warn("withdraw", one.text() + ": " + withdrawn.error().text());
  co_return Result<void>();
}

Announcements::Announcements(Loop& control, Log& log) : control_(control), board_(std::make_shared<Board>(log)) {}
Announcements::~Announcements() { drop(); }

Result<void> Announcements::announce(std::vector<Wanted> wanted, const std::function<bool()>& patient) {
  {
    const std::lock_guard lock(board_->mutex);
    for (Wanted& one : wanted)
      board_->all.push_back({std::move(one.what), std::move(one.registry), nullptr, false, false});
  }
  auto ended = wait_while(control_, patient, [board = board_] {
    std::vector<Task<Result<void>>> tasks;
    for (Announced& one : board->all) tasks.push_back(board->announce(one));
    return tenon::all(std::move(tasks));
  });
  if (!ended)
    return Error(Errc::cancelled, "not everything could be announced in time", Delivery::maybe_run, Advice::never);
  {
    const std::lock_guard lock(board_->mutex);
    std::erase_if(board_->all, [](const Announced& one) { return !one.lease; });
    board_->announced = true;
  }
  for (Result<void>& one : *ended)
    if (!one.ok()) return std::move(one);
  return {};
}

// On the control loop. What has not changed is left alone: an operator may have set a weight there.
void Announcements::Board::push_updates() {
  for (Announced& one : all) {
    Instance instance;
    {
      const std::lock_guard lock(mutex);
      if (leaving) return;
      if (!std::exchange(one.changed, false)) continue;
      instance = one.what.instance;
      instance.serving = instance.serving && !paused;
    }
    if (one.lease) one.lease->update(std::move(instance));
  }
}

void Announcements::Board::push_soon(std::shared_ptr<Board> board, Loop& control) {
  struct Push : Work {
    std::shared_ptr<Board> board;
  };
  auto* push = new Push;
  push->board = std::move(board);
  push->run = [](Work* work) noexcept {
    const std::unique_ptr<Push> self(static_cast<Push*>(work));
    self->board->push_updates();
  };
  control.post(*push);
}

void Announcements::pause(bool on) {
  {
    const std::lock_guard lock(board_->mutex);
    board_->paused = on;
    for (Announced& one : board_->all) one.changed = true;
  }
  Board::push_soon(board_, control_);
}

Result<void> Announcements::update(const ServiceName& service, const AnnouncementChange& change) {
  {
    const std::lock_guard lock(board_->mutex);
    if (board_->leaving)
      return Error(Errc::unavailable, service.text() + ": the application is stopping; nothing is announced any more",
                   Delivery::not_run, Advice::never);
    bool known = false;
    for (Announced& one : board_->all) {
      if (!board_->announced || !(one.what.service == service)) continue;
      known = one.changed = true;
      if (change.weight) one.what.instance.weight = *change.weight;
      if (change.serving) one.what.instance.serving = *change.serving;
      if (change.metadata) one.what.instance.metadata = *change.metadata;
    }
    if (!known)
      return Error(Errc::not_found,
                   service.text() +
                       " is not announced by this application (does its entry in server.services name a "
                       "registry, and has start() returned?)",
                   Delivery::not_run, Advice::never);
  }
  Board::push_soon(board_, control_);
  return {};
}

std::vector<Announcement> Announcements::list() const {
  const std::lock_guard lock(board_->mutex);
  std::vector<Announcement> all;
  if (board_->announced && !board_->leaving)
    for (const Announced& one : board_->all) all.push_back(one.what);
  return all;
}

bool Announcements::withdraw(TimePoint deadline) {
  {
    const std::lock_guard lock(board_->mutex);
    board_->leaving = true;
  }
  const auto patient = [deadline] { return std::chrono::steady_clock::now() < deadline + late; };
  const auto ended = wait_while(control_, patient, [board = board_, deadline] {
    std::vector<Task<Result<void>>> tasks;
    for (Announced& one : board->all)
      if (one.lease && !one.withdrawn) tasks.push_back(board->withdraw(one, deadline));
    return tenon::all(std::move(tasks));
  });
  return ended.has_value();
}

void Announcements::drop() {
  if (!board_) return;
  {
    const std::lock_guard lock(board_->mutex);
    board_->leaving = true;
  }
  run_on(control_, [this] {
    for (Announced& one : board_->all) one.lease.reset();
  });
  board_.reset();
}

void Announcements::abandon() noexcept {
  for (Announced& one : board_->all) (void)one.lease.release();
  board_.reset();
}

}  // namespace tenon
