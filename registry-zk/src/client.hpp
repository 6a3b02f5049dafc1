#pragma once
#include <zookeeper/zookeeper.h>

#include <coroutine>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "client_log.hpp"
#include "mailbox.hpp"
#include "tenon/clock.hpp"

namespace tenon::zk {

/// What the server answered. Codes are ZooKeeper's: ZOK, ZNONODE …
struct Reply {
  int code = ZOK;
  std::string data;                ///< get
  std::vector<std::string> names;  ///< children
  Stat stat{};                     ///< get, exists, set
  std::size_t failed = 0;          ///< steps: the first that failed
  bool ok() const noexcept { return code == ZOK; }
};

/// True when the connection or the session is what failed: whether the operation was done is not known.
bool is_loss(int code) noexcept;

/// A part of an atomic change.
struct Step {
  enum class What : std::uint8_t { create_ephemeral, remove };
  What what;
  std::string path;
  std::string data;
  int version = -1;  ///< remove: of the node's data; -1: any
};

class Client;

/// What to ask the server, for co_await on the executor; it resumes there, and with ZCLOSING when the client ends.
class Operation {
 public:
  enum class What : std::uint8_t { get, exists, children, create, create_ephemeral, set, remove, steps };
  /// A null client answers ZCONNECTIONLOSS at once. `watch`: get, exists and children may leave one watch.
  Operation(Client* client, What what, std::string path, bool watch)
      : client_(client), what_(what), watch_(watch), path_(std::move(path)) {}
  /// `version`: of the node's data; -1: any.
  Operation(Client* client, What what, std::string path, std::string data, int version)
      : client_(client), what_(what), path_(std::move(path)), data_(std::move(data)), version_(version) {}
  Operation(Client* client, std::vector<Step> steps) : client_(client), what_(What::steps), steps_(std::move(steps)) {}
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> caller);
  Reply await_resume() noexcept { return std::move(reply_); }

 private:
  friend class Client;
  Client* client_;
  What what_;
  bool watch_ = false;
  std::string path_;
  std::string data_;
  int version_ = -1;
  std::vector<Step> steps_;
  Reply reply_;
  std::coroutine_handle<> caller_;
};

struct ClientOptions {
  std::string servers;  ///< as the C library wants them
  std::chrono::milliseconds session_timeout{};
  std::string digest;               ///< user:password; empty: none
  const ACL_vector* acl = nullptr;  ///< of what is created; outlives the client
};

/// One handle of the C library, which is one session, or an attempt to get one. It is made and closed on threads of its
/// own, because resolving names and joining threads take time.
/// Threads: the executor's.
class Client {
 public:
  /// What happened. Called on the executor, never from within a function that others call; may destroy the client.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_connected(std::int64_t session, Duration timeout) = 0;
    virtual void on_disconnected() = 0;
    /// The session is over; so is this client, which answers nothing any more.
    virtual void on_expired() = 0;
    /// There will be no session: a name cannot be resolved, authentication failed.
    virtual void on_refused(const std::string& reason) = 0;
    /// A watch fired at `path`.
    virtual void on_event(const std::string& path) = 0;
  };

  Client(ClientOptions options, Listener& listener, Executor& executor, std::shared_ptr<ClientLog> log);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  /// Operations under way end with ZCLOSING, within.
  ~Client();

  /// The session outlives the client by that much, unless the process ends.
  void linger(std::chrono::milliseconds time) { mailbox_->linger(time); }
  /// Takes back the watches at `path`. Nobody hears of its end.
  void forget(const std::string& path);
  /// The server this is connected to; false: none. For finding out which of our addresses it sees.
  bool server_address(sockaddr_storage& address, socklen_t& length) const noexcept;

 private:
  friend class Operation;
  struct Ticket;
  struct Batch;
  struct Callbacks;
  /// False: reply_ is there already.
  bool submit(Operation& operation);
  // Of steps: the library needs them in one place until they are done.
  void prepare(Operation& operation, Ticket& ticket) const;
  int start(Operation& operation, Ticket* ticket, const Batch& batch);
  void complete(std::uint64_t id, Reply reply);
  void on_session_event(zhandle_t* handle, int state, std::int64_t session, int timeout_ms);

  const ClientOptions options_;
  Listener& listener_;
  const std::shared_ptr<Mailbox> mailbox_;
  zhandle_t* handle_ = nullptr;  // known from the first event on
  std::uint64_t next_ = 1;
  std::unordered_map<std::uint64_t, Operation*> pending_;
};

}  // namespace tenon::zk
