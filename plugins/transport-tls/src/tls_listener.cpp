#include "tls_listener.hpp"

#include <utility>

#include "tls_stream.hpp"

namespace tenon::tls {

/// A handshake under way.
struct TlsListener::Pending {
  Pending(State& s, std::unique_ptr<Engine> e, Clock& clock, TimePoint limit)
      : state(s), engine(std::move(e)), handshake(*engine, clock, limit) {}
  State& state;
  std::unique_ptr<Engine> engine;
  Handshake handshake;
  std::list<Pending>::iterator self;
};

/// Outlives the listener until take_in() and accept() have seen the end.
struct TlsListener::State : std::enable_shared_from_this<TlsListener::State> {
  State(std::unique_ptr<Listener> s, Executor& e, Log& l, std::shared_ptr<CredentialStore> c, const TlsOptions& o)
      : socket(std::move(s)), executor(e), log(l), store(std::move(c)), options(o) {}

  void admit(std::unique_ptr<ByteStream> stream);
  void ended(Pending& pending);
  bool full() const noexcept { return ready.size() >= options.max_handshakes; }
  void wake(std::coroutine_handle<>& waiter) {
    if (waiter) std::exchange(waiter, {}).resume();
  }

  std::unique_ptr<Listener> socket;
  Executor& executor;
  Log& log;
  const std::shared_ptr<CredentialStore> store;
  const TlsOptions options;
  std::list<Pending> pending;                 // oldest first
  std::deque<std::unique_ptr<Engine>> ready;  // to be accepted
  std::coroutine_handle<> acceptor;           // waits for `ready`
  std::coroutine_handle<> taker;              // waits until `ready` is not full
  bool closed = false;
};

/// Suspends accept() until a connection is ready, or the listener was closed.
struct TlsListener::Ready {
  State& state;
  bool await_ready() const noexcept { return state.closed || !state.ready.empty(); }
  void await_suspend(std::coroutine_handle<> caller) const noexcept { state.acceptor = caller; }
  void await_resume() const noexcept {}
};

/// Suspends take_in() until accept() has made room, or the listener was closed.
struct TlsListener::Room {
  State& state;
  bool await_ready() const noexcept { return state.closed || !state.full(); }
  void await_suspend(std::coroutine_handle<> caller) const noexcept { state.taker = caller; }
  void await_resume() const noexcept {}
};

TlsListener::TlsListener(std::unique_ptr<Listener> socket, Executor& home, Log& log,
                         std::shared_ptr<CredentialStore> store, const TlsOptions& options)
    : state_(std::make_shared<State>(std::move(socket), home, log, std::move(store), options)) {
  take_in_detached(state_);
}

const std::string& TlsListener::address() const noexcept { return state_->socket->address(); }

void TlsListener::close() noexcept {
  const std::shared_ptr<State> state = state_;  // what is resumed below may destroy the listener
  if (std::exchange(state->closed, true)) return;
  state->socket->close();
  state->pending.clear();
  state->ready.clear();
  state->wake(state->taker);
  state->wake(state->acceptor);
}

void TlsListener::take_in_detached(std::shared_ptr<State> state) {
  struct Detached {
    Task<void> task;
  };
  auto* detached = new Detached{take_in(std::move(state))};
  auto ended = [](void* self) { delete static_cast<Detached*>(self); };
  if (detached->task.start(ended, detached)) delete detached;
}

Task<void> TlsListener::take_in(std::shared_ptr<State> state) {
  Room room{*state};
  while (true) {
    co_await room;
    if (state->closed) co_return;
    auto accepting = state->socket->accept(state->executor);
    Result<std::unique_ptr<ByteStream>> stream = co_await accepting;
    if (!stream.ok() || state->closed) co_return;
    state->admit(std::move(*stream));
  }
}

void TlsListener::State::admit(std::unique_ptr<ByteStream> stream) {
  const TimePoint now = executor.clock().now();
  const Credentials credentials = store->current(now);
  // The socket's listener makes TcpStreams.
  std::unique_ptr<tcp::TcpStream> plain(static_cast<tcp::TcpStream*>(stream.release()));
  auto engine = Engine::make(credentials.listening, std::move(plain), true, log);
  if (!engine.ok()) return log.error("tls-handshake", engine.error().text());
  if (pending.size() >= options.max_handshakes) {
    log.warn("tls-handshakes", socket->address() + ": " + std::to_string(pending.size()) +
                                   " handshakes are under way; the oldest, of " + pending.front().engine->info().peer +
                                   ", is dropped (max_handshakes)");
    pending.pop_front();
  }
  Pending& added = pending.emplace_back(*this, std::move(*engine), executor.clock(), now + options.handshake_timeout);
  added.self = std::prev(pending.end());
  const Completion done{[](void* self) noexcept {
                          auto& over = *static_cast<Pending*>(self);
                          const std::shared_ptr<State> keep = over.state.shared_from_this();
                          keep->ended(over);
                        },
                        &added};
  if (added.handshake.start(done)) ended(added);
}

void TlsListener::State::ended(Pending& over) {
  std::unique_ptr<Engine> engine = std::move(over.engine);
  const bool succeeded = over.handshake.succeeded();
  const bool late = over.handshake.late();
  pending.erase(over.self);
  if (succeeded) {
    ready.push_back(std::move(engine));
    return wake(acceptor);
  }
  const std::string who = socket->address() + ": handshake with " + engine->info().peer;
  if (late)
    log.warn("tls-handshake", who + " not finished within " + std::to_string(options.handshake_timeout.count()) +
                                  " ms (it said " + (engine->never_spoke() ? "nothing" : "too little") + "); dropped");
  else if (!engine->never_spoke())
    log.warn("tls-handshake", who + " failed: " + engine->why());
}

Task<Result<std::unique_ptr<ByteStream>>> TlsListener::accept(Executor& home) { return accept(state_, home); }

Task<Result<std::unique_ptr<ByteStream>>> TlsListener::accept(std::shared_ptr<State> state, Executor& home) {
  Ready ready{*state};
  while (true) {
    co_await ready;
    if (state->closed) co_return Error(Errc::cancelled, state->socket->address() + ": the listener was closed");
    std::unique_ptr<Engine> engine = std::move(state->ready.front());
    state->ready.pop_front();
    state->wake(state->taker);
    int error = 0;
    if (&home == &state->executor || engine->move_to(home, error))
      co_return std::unique_ptr<ByteStream>(std::make_unique<TlsStream>(std::move(engine), home));
    state->log.error("accept", state->socket->address() + ": a connection of " + engine->info().peer +
                                   " is lost: cannot watch its socket: " + tcp::system_text(error));
  }
}

}  // namespace tenon::tls
