#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "options.hpp"
#include "tenon/clock.hpp"
#include "tenon/result.hpp"

namespace tenon::consul {

enum class Verb : std::uint8_t { get, put, del };

struct Request {
  Verb verb = Verb::get;
  std::string target;  ///< path and query, escaped
  std::string body;
  Duration limit{0};  ///< from the connection's standing to the answer's end
};

struct Answer {
  unsigned status = 0;
  std::uint64_t index = 0;  ///< X-Consul-Index; 0: it has none that can be used
  std::string body;
};

/// A connection to an agent over which one request at a time is answered; kept open between them, opened when needed.
/// Threads: the executor's. Ownership: shared; what is under way keeps it alive. An io_context that ends while
/// something is under way ends that with an error.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Settings {
    AgentAddress to;
    std::string name;  ///< of the agent, for sentences
    std::string token;
    Duration connect_timeout{0};
    std::uint64_t max_answer = 0;
  };
  Connection(boost::asio::io_context& context, std::shared_ptr<const Settings> settings);

  /// co_await connection->ask(request): Result<Answer>, whatever its status. `request` must live until then.
  /// Fails with: unavailable (no connection, or it broke), deadline_exceeded, too_large, malformed.
  class Exchange {
   public:
    Exchange(Connection& connection, const Request& request) : connection_(connection), request_(request) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> caller) {
      caller_ = caller;
      connection_.begin(*this);
    }
    Result<Answer> await_resume() { return std::move(result_); }

   private:
    friend class Connection;
    Connection& connection_;
    const Request& request_;
    std::coroutine_handle<> caller_;
    Result<Answer> result_;
  };
  /// REQUIRES: nothing is under way.
  Exchange ask(const Request& request) { return Exchange(*this, request); }
  /// Closes it; what is under way fails with `why` before this returns.
  void abort(const Error& why);

 private:
  using Executor = boost::asio::io_context::executor_type;
  using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;
  using Resolver = boost::asio::ip::basic_resolver<boost::asio::ip::tcp, Executor>;
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;
  class Turn;

  void begin(Exchange& exchange);
  void connect();
  void send();
  void receive();
  void received(const boost::system::error_code& failed);
  void limit(Duration within, const char* doing);
  void fail(Errc code, const std::string& what, Delivery delivery);
  void finish(Result<Answer> result);
  void drop();  // the io_context has ended: nothing of Asio is touched
  void close() noexcept;
  bool usable();

  // What a step reads and writes: it lives until that step has ended, also when the exchange was given up before.
  struct Pipe {
    explicit Pipe(boost::asio::io_context& context);
    Socket socket;
    boost::beast::flat_buffer buffer;
    boost::beast::http::request<boost::beast::http::string_body> message;
    std::optional<boost::beast::http::response_parser<boost::beast::http::string_body>> parser;
  };

  boost::asio::io_context& context_;
  const std::shared_ptr<const Settings> settings_;
  Resolver resolver_;
  Timer timer_;
  std::shared_ptr<Pipe> pipe_;  // null: not connected
  Exchange* exchange_ = nullptr;
  std::uint64_t serial_ = 0;  // of the exchange under way
  std::uint64_t step_ = 0;    // counts time limits: one that has been replaced may be on its way
};

}  // namespace tenon::consul
