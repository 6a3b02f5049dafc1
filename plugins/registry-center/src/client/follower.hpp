#pragma once
#include <functional>
#include <memory>
#include <utility>

#include "backoff.hpp"
#include "detached.hpp"
#include "session.hpp"

namespace tenon::center {

/// A stream of the center's, followed for an observer: read as long as it goes, asked for anew when it has ended.
/// The observer hears an error once when there has been no center for long, and then what is known when there is one
/// again. Threads: the executor's. Ownership: shared; keeps itself alive until it has ended.
template <class Message, class News>
class Follower : public std::enable_shared_from_this<Follower<Message, News>> {
 public:
  using Observer = std::function<void(const Result<News>&)>;
  Follower(std::shared_ptr<Session> session, Observer observer)
      : session_(std::move(session)), observer_(std::move(observer)) {}
  virtual ~Follower() = default;
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  /// Asks, on a turn of its own: nothing is heard before this has returned.
  void begin() {
    struct Begin : Work {
      std::shared_ptr<Follower> follower;
    };
    auto* begin = new Begin;
    begin->follower = this->shared_from_this();
    begin->run = [](Work* work) noexcept {
      const std::unique_ptr<Begin> self(static_cast<Begin*>(work));
      run_detached(Follower::run(self->follower));
      run_detached(Follower::mind(self->follower));
    };
    session_->executor().post(*begin);
  }
  /// Nothing is heard afterwards.
  void end() noexcept {
    if (std::exchange(ended_, true)) return;
    give_up_.cancel();
    session_->bell().ring();
  }

 protected:
  virtual Stream<Message> ask(const CallOptions& options) = 0;
  /// What the observer is to hear of it; false: nothing new.
  virtual bool learn(Message& message, News& news) = 0;
  Session& session() const noexcept { return *session_; }

 private:
  static constexpr Duration first_pause = std::chrono::milliseconds(20);
  static constexpr Duration longest_pause = std::chrono::seconds(2);

  bool over() const noexcept { return ended_ || session_->stopped(); }

  static Task<void> run(std::shared_ptr<Follower> self) {
    const std::shared_ptr<Session> session = self->session_;
    Backoff backoff(first_pause, longest_pause);
    while (!self->over()) {
      if (!session->open()) {
        (void)co_await session->bell().wait(never);
        continue;
      }
      CallOptions options;
      options.cancel = &self->give_up_;
      Stream<Message> stream = self->ask(options);
      Message message;
      Error trouble;
      while (!self->over()) {
        Task<Result<bool>> coming = stream.next(message, use_task);
        const Result<bool> more = co_await coming;
        if (!more.ok()) trouble = more.error();
        if (!more.ok() || !*more || self->over()) break;
        backoff.reset();
        self->hear(message);
      }
      if (self->over()) break;
      session->doubt();
      if (trouble && trouble.code() != Errc::unavailable && trouble.code() != Errc::not_found) {
        session->log().warn("center", "a subscription has ended: " + trouble.text() + "; asking again");
        if (!std::exchange(self->stale_, true)) self->observer_(Result<News>(trouble));
        if (self->over()) break;
      }
      (void)co_await session->bell().wait(session->clock().now() + backoff.next());
    }
  }

  /// Says when there has been no center for long.
  static Task<void> mind(std::shared_ptr<Follower> self) {
    const std::shared_ptr<Session> session = self->session_;
    while (!self->over()) {
      const TimePoint hopeless = session->hopeless_at();
      if (hopeless <= session->clock().now()) {
        if (!std::exchange(self->stale_, true)) self->observer_(Result<News>(session->trouble()));
        if (self->over()) break;
        (void)co_await session->bell().wait(never);
      } else {
        (void)co_await session->bell().wait(hopeless);
      }
    }
  }

  void hear(Message& message) {
    News news;
    if (!learn(message, news) && !stale_) return;
    stale_ = false;
    observer_(Result<News>(std::move(news)));
  }

  const std::shared_ptr<Session> session_;
  const Observer observer_;
  CancelSource give_up_;
  bool ended_ = false;
  bool stale_ = false;
};

/// The instances of one service.
class ServiceFollower final : public Follower<List, Snapshot> {
 public:
  ServiceFollower(std::shared_ptr<Session> session, Subscription subscription, SnapshotObserver observer)
      : Follower(std::move(session), std::move(observer)), subscription_(std::move(subscription)) {}

 private:
  Stream<List> ask(const CallOptions& options) override;
  bool learn(List& list, Snapshot& news) override;

  const Subscription subscription_;
  bool told_ = false;
  Snapshot last_;
};

/// One document.
class DocumentFollower final : public Follower<Document, Document> {
 public:
  DocumentFollower(std::shared_ptr<Session> session, std::string kind, std::string group, DocumentObserver observer)
      : Follower(std::move(session), std::move(observer)), kind_(std::move(kind)), group_(std::move(group)) {}

 private:
  Stream<Document> ask(const CallOptions& options) override;
  bool learn(Document& document, Document& news) override;

  const std::string kind_;
  const std::string group_;
  bool told_ = false;
  Document last_;
};

}  // namespace tenon::center
