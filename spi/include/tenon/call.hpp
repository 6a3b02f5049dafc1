#pragma once
// The central idea: everything that can be called is one verb, Callable<In, Out>. An Invoker speaks messages, an
// Exchange speaks frames; the codec between them is core's.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/attachment.hpp"
#include "tenon/cancel.hpp"
#include "tenon/clock.hpp"
#include "tenon/executor.hpp"
#include "tenon/headers.hpp"
#include "tenon/method.hpp"
#include "tenon/payload.hpp"
#include "tenon/result.hpp"
#include "tenon/task.hpp"

namespace tenon {

class Candidates;

/// Can it take work? Ordered: an aggregate is as healthy as its best member.
enum class Health : std::uint8_t { closed, busy, open };

enum class Side : std::uint8_t { client, server };

/// What is known of a connection. Lives as long as the connection.
struct PeerInfo {
  std::string peer;  ///< "127.0.0.1:4080", "[::1]:4080", "memory:greeter"
  std::string local;
  std::string protocol;  ///< the plugin's name: "tenon"
  std::string identity;  ///< authenticated name (mutual TLS); empty: not known
  bool secure = false;
};

/// What a handler sends beside its reply.
struct ReplyExtras {
  Headers headers;
  Attachment attachment;
};

/// Facts about one call; read-only but for `reply`. That and the Request's own members are the whole context of a call.
struct CallInfo {
  Side side = Side::client;
  const PeerInfo* peer = nullptr;  ///< server: the caller; client: null until the attempt is sent
  const Target* target = nullptr;
  const Headers* headers = nullptr;        ///< the request's
  const Attachment* attachment = nullptr;  ///< the request's
  ReplyExtras* reply = nullptr;            ///< server: what the handler adds to its reply; client: null
  TimePoint started{};                     ///< when the request was read / the call was made
  TimePoint deadline = never;
  Cancellation* cancel = nullptr;  ///< fires when the caller gave up
  Executor* executor = nullptr;    ///< where the call runs
  std::uint32_t attempt = 0;       ///< 0: the first
  std::size_t request_bytes = 0;   ///< encoded size; 0: not known yet
};

/// One message of a stream.
struct StreamMessage {
  /// May refer to what the source keeps until the following next().
  Payload payload;
  Attachment attachment;
};

/// The messages of a stream, taken out one by one: what is not asked for is not made, and not sent.
/// Threads: the call's executor. Ownership: on the client, destroying it before the end gives the stream up. On the
/// server whoever takes it out of a Response asks until the end (soon, once the call's `cancel` has fired), because a
/// handler may be at work behind it.
class TENON_SPI Messages {
 public:
  virtual ~Messages();
  /// The next message; nothing at the end of a stream that ended well; an error when it did not. Not to be asked again
  /// after either. One next() at a time; it has ended before the Messages are destroyed.
  virtual Task<Result<std::optional<StreamMessage>>> next() = 0;
  /// Headers that came after the last message. Valid after the end. May be moved from.
  virtual Headers& trailers() noexcept = 0;
};

/// What is asked. Borrowed by everyone on its way: the caller owns it until the call completes. Who needs it twice
/// (hedging) copies what it needs.
struct Request {
  explicit Request(const Target& t) noexcept : target(&t) {}
  Request(Request&&) = default;
  Request& operator=(Request&&) = default;

  const Target* target;
  Payload payload;
  Headers headers;
  Attachment attachment;
  /// One deadline for all attempts, queueing and connecting, and for a stream to its end.
  TimePoint deadline = never;
  Cancellation* cancel = nullptr;         ///< null: cannot be cancelled
  const CallInfo* info = nullptr;         ///< set by core on both sides
  const std::string* instance = nullptr;  ///< only this instance (point-to-point); null: any
  std::uint64_t hash_key = 0;             ///< for consistent hashing; 0: none
  /// Where the caller wants the reply: an object of target->method->output. Null: a fresh payload (encoded bytes are
  /// kept as they are, for forwarding).
  void* reply = nullptr;
  std::unique_ptr<Messages> messages;  ///< client streams (not carried yet); null for others
  /// Kept by the cluster: members already tried, as positions in its set number `tried_set`.
  std::uint64_t tried = 0;
  std::uint64_t tried_set = 0;
  /// Where an HA strategy gets its endpoints from; set by the cluster.
  Candidates* candidates = nullptr;
};

/// What is answered. If the caller gave Request::reply, `payload` borrows that object.
struct Response {
  Payload payload;
  Headers headers;
  Attachment attachment;
  /// server_stream: the messages; this Response is only the stream's head. Null for others. A filter may put its own
  /// in front, to see them pass.
  std::unique_ptr<Messages> messages;
};

/// One call to every instance; results in the order of `instances` (ids).
struct Broadcast {
  std::vector<std::string> instances;
  std::vector<Result<Response>> results;
};

/// Everything that can be called.
/// Threads: its executor's, unless it says otherwise. Blocking: never.
/// Ownership: `in` stays the caller's and must live until the task has ended; so must the callable.
template <class In, class Out>
class Callable {
 public:
  virtual ~Callable() = default;
  virtual Task<Result<Out>> call(In& in) = 0;
  virtual Health health() const noexcept = 0;
};

/// Speaks messages: filters, clusters, endpoints, services seen through the dispatcher.
class TENON_SPI Invoker : public Callable<Request, Response> {
 public:
  static constexpr std::string_view kind = "invoker";
  ~Invoker() override;
};

}  // namespace tenon
