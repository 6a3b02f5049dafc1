#pragma once
#include <coroutine>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "loop/loop.hpp"
#include "tenon/call.hpp"

namespace tenon {

class ClientConnection;
class Encoding;
class RemoteEndpoint;

/// The messages of one server_stream call as they come in from its connection. What the reader has not taken waits
/// here, at most the window and one message.
/// Threads: the connection's loop. Ownership: the reader's; the connection knows it until the stream is over. The
/// Request it answers lives as long as this.
class ClientStream final : public Messages {
 public:
  /// The call counts as in flight until this is over.
  ClientStream(std::shared_ptr<RemoteEndpoint> endpoint, ClientConnection& connection, const Request& request,
               std::uint32_t number, std::uint32_t window);
  ~ClientStream() override;
  Task<Result<std::optional<StreamMessage>>> next() override;
  Headers& trailers() noexcept override { return trailers_; }

  // From the connection, in this order: messages, then one of the others, after which it forgets this.
  void on_message(StreamMessage message, std::size_t cost);
  void on_end(Headers trailers);
  void on_failure(Error error);

  std::uint32_t number() const noexcept { return number_; }

 private:
  struct Deadline : Alarm {
    ClientStream* stream = nullptr;
  };
  struct Cancel : CancelHook {
    ClientStream* stream = nullptr;
  };
  struct Waiting {
    StreamMessage message;
    std::size_t cost;
  };
  class Arrival;
  void watch();
  /// Tells the server, drops what comes.
  void abandon() noexcept;
  void give_up(Error error);
  void over() noexcept;
  void wake();
  std::string describe() const;

  std::shared_ptr<RemoteEndpoint> endpoint_;
  ClientConnection* connection_;  // null: over
  const Request& request_;
  const std::uint32_t number_;
  const std::size_t credit_from_;  // consumed bytes that are worth a frame
  std::deque<Waiting> waiting_;
  std::size_t consumed_ = 0;
  std::coroutine_handle<> reader_;
  Deadline deadline_;
  Cancel cancel_;
  bool ended_ = false;
  Error error_;
  Headers trailers_;
};

}  // namespace tenon
