#include "memory_listener.hpp"

namespace tenon::mem {

namespace {

/// Suspends while nobody is at the door.
struct Knock {
  Doorway& doorway;
  Doorway::Visitor& visitor;
  bool& closed;
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> caller) const { return !doorway.next(visitor, closed, caller); }
  void await_resume() const noexcept {}
};

}  // namespace

Task<Result<std::unique_ptr<ByteStream>>> MemoryListener::accept(std::shared_ptr<Doorway> doorway, Executor& home) {
  Doorway::Visitor visitor;
  bool closed = false;
  Knock knock{*doorway, visitor, closed};
  while (!visitor.duplex && !closed) co_await knock;
  const std::string address = "memory:" + doorway->name();
  if (closed) co_return Error(Errc::cancelled, address + ": the listener was closed");
  std::string peer = address + "#" + std::to_string(visitor.number);
  co_return std::unique_ptr<ByteStream>(
      std::make_unique<MemoryStream>(std::move(visitor.duplex), 1, home, address, std::move(peer)));
}

void MemoryListener::close() noexcept {
  const std::shared_ptr<Doorway> doorway = doorway_;
  Rendezvous::of_process().remove(*doorway);
  doorway->close();
}

}  // namespace tenon::mem
