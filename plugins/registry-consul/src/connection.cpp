#include "connection.hpp"

#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <cerrno>
#include <charconv>
#include <utility>

namespace tenon::consul {

namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace {

constexpr std::size_t largest_header = 16u << 10;
constexpr std::size_t largest_buffer = 256u << 10;
constexpr unsigned http_11 = 11;

http::verb verb_of(Verb verb) {
  switch (verb) {
    case Verb::get: return http::verb::get;
    case Verb::put: return http::verb::put;
    case Verb::del: return http::verb::delete_;
  }
  return http::verb::get;
}

std::uint64_t index_of(beast::string_view text) {
  std::uint64_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  return error == std::errc() && end == text.data() + text.size() ? index : 0;
}

std::string seconds_text(Duration limit) {
  const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
  return std::to_string(count) + " ms";
}

}  // namespace

/// What Asio calls when a step is done. One that is dropped without that (the io_context has ended) ends the exchange,
/// so that nobody waits for ever.
class Connection::Turn {
 public:
  explicit Turn(Connection& connection)
      : connection_(connection.shared_from_this()), pipe_(connection.pipe_), serial_(connection.serial_) {}
  Turn(Turn&&) noexcept = default;
  Turn& operator=(Turn&&) = delete;
  ~Turn() {
    if (current()) connection_->drop();
  }
  /// Null: the exchange it was for is over.
  std::shared_ptr<Connection> take() {
    if (!current()) return nullptr;
    return std::exchange(connection_, nullptr);
  }

 private:
  bool current() const noexcept { return connection_ && connection_->exchange_ && connection_->serial_ == serial_; }
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<Pipe> pipe_;
  std::uint64_t serial_;
};

Connection::Connection(boost::asio::io_context& context, std::shared_ptr<const Settings> settings)
    : context_(context), settings_(std::move(settings)), resolver_(context), timer_(context) {}

Connection::Pipe::Pipe(boost::asio::io_context& context) : socket(context), buffer(largest_buffer) {}

// The agent may have closed a connection that was idle, and may have said something nobody asked for.
bool Connection::usable() {
  if (!pipe_ || !pipe_->socket.is_open() || pipe_->buffer.size() != 0) return false;
  char byte = 0;
  const ssize_t seen = ::recv(pipe_->socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return seen < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

void Connection::begin(Exchange& exchange) {
  exchange_ = &exchange;
  ++serial_;
  if (usable()) {
    send();
  } else {
    close();
    pipe_ = std::make_shared<Pipe>(context_);
    connect();
  }
}

void Connection::connect() {
  limit(settings_->connect_timeout, "a connection");
  auto resolved = [turn = Turn(*this)](const boost::system::error_code& failed,
                                       const Resolver::results_type& found) mutable {
    const std::shared_ptr<Connection> self = turn.take();
    if (!self) return;
    if (failed) {
      self->fail(Errc::unavailable, "unknown host (" + failed.message() + ")", Delivery::not_run);
      return;
    }
    auto connected = [turn = Turn(*self)](const boost::system::error_code& refused,
                                          const boost::asio::ip::tcp::endpoint&) mutable {
      const std::shared_ptr<Connection> next = turn.take();
      if (!next) return;
      if (refused) {
        next->fail(Errc::unavailable, "cannot connect (" + refused.message() + ")", Delivery::not_run);
        return;
      }
      boost::system::error_code ignored;
      next->pipe_->socket.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
      next->pipe_->socket.set_option(boost::asio::socket_base::keep_alive(true), ignored);
      next->send();
    };
    boost::asio::async_connect(self->pipe_->socket, found, std::move(connected));
  };
  resolver_.async_resolve(settings_->to.host, settings_->to.port, Resolver::numeric_service, std::move(resolved));
}

void Connection::send() {
  const Request& request = exchange_->request_;
  auto& message = pipe_->message;
  message = {};
  message.version(http_11);
  message.method(verb_of(request.verb));
  message.target(request.target);
  message.set(http::field::host, settings_->name);
  message.set(http::field::user_agent, "tenon");
  if (!settings_->token.empty()) message.set("X-Consul-Token", settings_->token);
  message.body() = request.body;
  message.prepare_payload();
  limit(request.limit, "its answer");
  auto sent = [turn = Turn(*this)](const boost::system::error_code& failed, std::size_t) mutable {
    const std::shared_ptr<Connection> self = turn.take();
    if (!self) return;
    if (failed)
      self->fail(Errc::unavailable, "the connection broke (" + failed.message() + ")", Delivery::maybe_run);
    else
      self->receive();
  };
  http::async_write(pipe_->socket, message, std::move(sent));
}

void Connection::receive() {
  auto& parser = pipe_->parser;
  parser.emplace();
  parser->header_limit(largest_header);
  parser->body_limit(settings_->max_answer);
  auto done = [turn = Turn(*this)](const boost::system::error_code& failed, std::size_t) mutable {
    if (const std::shared_ptr<Connection> self = turn.take()) self->received(failed);
  };
  http::async_read(pipe_->socket, pipe_->buffer, *parser, std::move(done));
}

void Connection::received(const boost::system::error_code& failed) {
  if (failed == http::error::body_limit)
    return fail(Errc::too_large,
                "an answer of more than " + std::to_string(settings_->max_answer) +
                    " bytes is refused; raise max_answer, or use smaller groups",
                Delivery::ran);
  const bool broke = failed == http::error::partial_message || failed == http::error::end_of_stream ||
                     failed.category() == boost::system::system_category() ||
                     failed.category() == boost::asio::error::get_misc_category();
  if (failed && broke)
    return fail(Errc::unavailable, "the connection ended before its answer (" + failed.message() + ")",
                Delivery::maybe_run);
  if (failed)
    return fail(Errc::malformed, "it does not answer in HTTP (" + failed.message() + ")", Delivery::maybe_run);
  auto message = pipe_->parser->release();
  if (!message.keep_alive()) close();
  Answer answer;
  answer.status = message.result_int();
  const auto index = message.find("X-Consul-Index");
  if (index != message.end()) answer.index = index_of(index->value());
  answer.body = std::move(message.body());
  finish(std::move(answer));
}

void Connection::limit(Duration within, const char* doing) {
  timer_.expires_after(within);
  auto late = [turn = Turn(*this), step = ++step_, within, doing](const boost::system::error_code& cancelled) mutable {
    const std::shared_ptr<Connection> self = turn.take();
    if (self && !cancelled && step == self->step_)
      self->fail(Errc::deadline_exceeded, "waited " + seconds_text(within) + " for " + doing, Delivery::maybe_run);
  };
  timer_.async_wait(std::move(late));
}

void Connection::abort(const Error& why) {
  close();
  if (exchange_) finish(why);
}

void Connection::fail(Errc code, const std::string& what, Delivery delivery) {
  close();
  finish(Error(code, "the Consul agent at " + settings_->name + ": " + what, delivery));
}

void Connection::drop() {
  Exchange* const done = std::exchange(exchange_, nullptr);
  done->result_ = Error(Errc::unavailable, "the executor has ended", Delivery::maybe_run, Advice::never);
  done->caller_.resume();
}

void Connection::finish(Result<Answer> result) {
  Exchange* const done = std::exchange(exchange_, nullptr);
  ++serial_;
  boost::system::error_code ignored;
  timer_.cancel(ignored);
  done->result_ = std::move(result);
  done->caller_.resume();
}

void Connection::close() noexcept {
  boost::system::error_code ignored;
  resolver_.cancel();
  if (pipe_) pipe_->socket.close(ignored);
  pipe_.reset();
}

}  // namespace tenon::consul
