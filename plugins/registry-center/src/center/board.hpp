#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "journal.hpp"
#include "lease_clock.hpp"
#include "mailbox.hpp"
#include "table.hpp"
#include "tenon/environment.hpp"
#include "tenon/serve_stream.hpp"

namespace tenon::center {

/// A center at work: the table behind its mutex, the timers on the control thread, the journal on its own. What the
/// methods of tenon.Center do (messages.hpp).
///
/// Streams hold it, so it may outlive its service; after stop() every call fails with `unavailable`.
/// Threads: any. Blocking: a mutex held for as long as a list takes to be made; never a disk.
class Board : public std::enable_shared_from_this<Board> {
 public:
  /// `journal` null: everything is kept in memory only.
  Board(const CenterOptions& options, Environment environment, std::uint64_t epoch, std::unique_ptr<Journal> journal);
  ~Board();
  /// Puts what the store had into place and begins to look at leases. Once, first of all.
  void start(Store::Contents contents);
  /// Ends every stream and the timers.
  void stop();

  /// Says in the log who came with a wrong token: at most once in ten seconds, and how many it has not named.
  void warn_of_token(const std::string& who);

  Result<Opened> open(const Opening& opening);
  Result<Beaten> beat(const ClientKey& key);
  Result<void> announce(const ClientKey& key, const ServiceName& service, const Instance& instance, bool update);
  /// announce() as an update; answers when the end of what operators had set is on the disk, too.
  static Task<Result<void>> update(std::shared_ptr<Board> board, ClientKey key, ServiceName service, Instance instance);
  Result<void> withdraw(const ClientKey& key, const ServiceName& service, const std::string& id);
  Result<void> close(const ClientKey& key);
  // Static, and with everything by value: none of these touches a service that may be gone.
  static Task<Result<void>> watch(std::shared_ptr<Board> board, ClientKey key, ServiceName service,
                                  std::string subscriber, StreamWriter<List>& out);
  static Task<Result<void>> watch_document(std::shared_ptr<Board> board, ClientKey key, std::string kind,
                                           std::string group, StreamWriter<Document>& out);

  // For operators.
  Result<std::vector<ServiceName>> services();
  Result<std::vector<Instance>> instances(const ServiceName& service);
  Result<std::vector<Subscriber>> subscribers(const ServiceName& service);
  Result<std::vector<std::string>> groups();
  Result<Document> read(const std::string& kind, const std::string& group);
  Result<State> state();
  // Answered when it is durable.
  static Task<Result<void>> write(std::shared_ptr<Board> board, Document document);
  static Task<Result<void>> remove(std::shared_ptr<Board> board, Document document);
  static Task<Result<void>> set(std::shared_ptr<Board> board, InstanceName of, std::optional<std::uint32_t> weight,
                                std::optional<bool> serving);

 private:
  struct Timer : Alarm {
    Board* board = nullptr;
  };
  struct Post : Work {
    std::shared_ptr<Board> board;  // while it is on its way
  };
  class Subscribed;

  // Runs `f` with the mutex held, then does what it brought about: wakes, posts, jobs for the journal.
  template <class F>
  auto with(F f) {
    Aftermath after(*this);
    const std::lock_guard lock(door_.mutex);
    return f();
  }
  // The same for what a caller wants: refused once stopped.
  template <class F>
  auto serve(F f) -> decltype(f()) {
    return with([&]() -> decltype(f()) {
      if (stopped_) return gone();
      return f();
    });
  }
  class Aftermath {
   public:
    explicit Aftermath(Board& board) noexcept : board_(board) {}
    ~Aftermath() { board_.follow_up(); }

   private:
    Board& board_;
  };
  static Error gone();
  void follow_up() noexcept;
  void on_control(Post& post, void (*run)(Work*) noexcept);
  void tick() noexcept;
  void advance_pushes() noexcept;
  void tell(const Round& round, Duration paused);
  Result<void> change_document(Store* store, const Document& document, bool remove);
  Result<void> change_instance(Store* store, const InstanceName& of, std::optional<std::uint32_t> weight,
                               std::optional<bool> serving);

  const CenterOptions options_;
  const Environment environment_;
  const Duration period_;
  Door door_;
  Table table_;      // under the mutex
  LeaseClock time_;  // under the mutex; goes on on the control thread
  TimePoint next_token_warning_{};      // under the mutex
  std::uint64_t unnamed_intruders_ = 0;  // under the mutex: since the last warning
  bool stopped_ = false;
  bool pushes_posted_ = false;
  Timer tick_;  // the control thread's
  Timer push_;  // the control thread's
  bool timing_ = false;
  Post begin_;
  Post push_post_;
  Post end_;
  std::unique_ptr<Journal> journal_;  // null: none
};

}  // namespace tenon::center
