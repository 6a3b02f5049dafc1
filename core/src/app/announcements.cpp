#include "app/announcements.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "loop/run_on.hpp"
#include "loop/wait_for.hpp"
#include "tenon/scope.hpp"

namespace tenon {

/// One instance in one registry.
struct Announced {
  Announcement what;  // Board::mutex
  std::shared_ptr<Registry> registry;
  std::unique_ptr<Lease> lease;  // the control loop's; null: not announced
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
  bool leaving = false;

  Task<Result<void>> announce(Announced& one);
  Task<Result<void>> withdraw(Announced& one, TimePoint deadline);
  void push_updates();
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
  co_return Result<void>();
}

Task<Result<void>> Announcements::Board::withdraw(Announced& one, TimePoint deadline) {
  auto task = one.lease->withdraw(deadline);
  auto withdrawn = co_await task;
  if (!withdrawn.ok()) log.warn("withdraw", one.text() + ": " + withdrawn.error().text());
  co_return Result<void>();
}

Announcements::Announcements(Loop& control, Log& log) : control_(control), board_(std::make_shared<Board>(log)) {}
Announcements::~Announcements() { drop(); }

Result<void> Announcements::announce(std::vector<Wanted> wanted) {
  std::vector<Announced> all;
  for (Wanted& one : wanted) all.push_back({std::move(one.what), std::move(one.registry), nullptr, false});
  Board& board = *board_;
  auto ended = wait_for(control_, [&] {
    std::vector<Task<Result<void>>> tasks;
    for (Announced& one : all) tasks.push_back(board.announce(one));
    return tenon::all(std::move(tasks));
  });
  {
    const std::lock_guard lock(board.mutex);
    std::erase_if(all, [](const Announced& one) { return !one.lease; });
    board.all = std::move(all);
  }
  for (Result<void>& one : ended)
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
    }
    if (one.lease) one.lease->update(std::move(instance));
  }
}

Result<void> Announcements::update(const ServiceName& service, const AnnouncementChange& change) {
  {
    const std::lock_guard lock(board_->mutex);
    if (board_->leaving)
      return Error(Errc::unavailable, service.text() + ": the application is stopping; nothing is announced any more",
                   Delivery::not_run, Advice::never);
    bool known = false;
    for (Announced& one : board_->all) {
      if (!(one.what.service == service)) continue;
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
  struct Push : Work {
    std::shared_ptr<Board> board;
  };
  auto* push = new Push;
  push->board = board_;
  push->run = [](Work* work) noexcept {
    const std::unique_ptr<Push> self(static_cast<Push*>(work));
    self->board->push_updates();
  };
  control_.post(*push);
  return {};
}

std::vector<Announcement> Announcements::list() const {
  const std::lock_guard lock(board_->mutex);
  std::vector<Announcement> all;
  if (!board_->leaving)
    for (const Announced& one : board_->all) all.push_back(one.what);
  return all;
}

void Announcements::withdraw(TimePoint deadline) {
  Board& board = *board_;
  {
    const std::lock_guard lock(board.mutex);
    board.leaving = true;
  }
  (void)wait_for(control_, [&] {
    std::vector<Task<Result<void>>> tasks;
    for (Announced& one : board.all)
      if (one.lease) tasks.push_back(board.withdraw(one, deadline));
    return tenon::all(std::move(tasks));
  });
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
