#include "connector.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>
#include <optional>

#include "tcp_stream.hpp"

namespace tenon::tcp {

namespace {
using Resolver = boost::asio::ip::basic_resolver<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

Error unavailable(std::string text) {
  return Error(Errc::unavailable, std::move(text), Delivery::not_run, Advice::other_instance);
}
}  // namespace

struct Connector::Pending {
  explicit Pending(Connector& owner) : connector(&owner), resolver(owner.home_.context()) {}
  Connector* connector;  // null: nobody is interested any more
  Resolver resolver;
  std::optional<Watched> socket;
};

Connector::Connector(const HostPort& to, Executor& home, TimePoint deadline, const TcpOptions& options,
                     std::vector<SocketAddress> known)
    : to_(to),
      home_(home),
      deadline_(deadline),
      started_(home.clock().now()),
      options_(options),
      addresses_(std::move(known)) {
  limit_.connector = this;
  limit_.fire = [](Alarm* alarm) { static_cast<Limit*>(alarm)->connector->expired(); };
}

Connector::~Connector() {
  home_.clock().cancel(limit_);
  if (pending_) pending_->connector = nullptr;
}

bool Connector::await_suspend(std::coroutine_handle<> caller) {
  caller_ = caller;
  pending_ = std::make_shared<Pending>(*this);
  if (started_ >= deadline_) {
    finish(late());
  } else if (!addresses_.empty()) {
    try_next();
  } else if (to_.form == HostPort::Form::name) {
    resolve();
  } else if (const auto literal = literal_address(to_)) {
    addresses_.push_back(*literal);
    try_next();
  } else {
    finish(unavailable(to_.text() + ": there is no network interface '" + to_.host.substr(to_.host.find('%') + 1) +
                       "' here"));
  }
  suspended_ = !finished_;
  return suspended_;
}

void Connector::resolve() {
  limit(deadline_);
  auto done = [pending = pending_](const boost::system::error_code& error, const Resolver::results_type& found) {
    if (!pending->connector) return;
    std::vector<SocketAddress> addresses;
    for (const auto& entry : found) {
      const boost::asio::ip::tcp::endpoint endpoint = entry.endpoint();
      SocketAddress& address = addresses.emplace_back();
      address.size = static_cast<socklen_t>(endpoint.size());
      std::memcpy(&address.storage, endpoint.data(), endpoint.size());
    }
    pending->connector->resolved(error.value(), error.message(), std::move(addresses));
  };
  pending_->resolver.async_resolve(to_.host, std::to_string(to_.port), Resolver::numeric_service, std::move(done));
}

void Connector::resolved(int error, const std::string& text, std::vector<SocketAddress> addresses) {
  if (error != 0 || addresses.empty())
    return finish(unavailable(to_.text() + ": unknown host (" + text + "); check the name and the DNS"));
  addresses_ = std::move(addresses);
  try_next();
}

void Connector::try_next() {
  home_.clock().cancel(limit_);
  while (tried_ < addresses_.size()) {
    const SocketAddress& address = addresses_[tried_++];
    pending_->socket.reset();
    Fd fd = open_socket(address.family());
    if (!fd) {
      const int error = errno;
      note("cannot open a socket: " + system_text(error) +
           (error == EMFILE ? " (raise the limit with ulimit -n)" : ""));
      continue;
    }
    configure(fd.get(), options_, address.family());
    const int refused = ::connect(fd.get(), address.get(), address.size) == 0 ? 0 : errno;
    if (refused != 0 && refused != EINPROGRESS && refused != EINTR) {
      note(system_text(refused));
      continue;
    }
    int error = 0;
    pending_->socket = watch(std::move(fd), home_.context(), error);
    if (!pending_->socket) {
      note("cannot watch the socket: " + system_text(error));
      continue;
    }
    if (refused == 0) return connected();
    if (deadline_ != never) {
      // An address that does not answer must leave time for the others.
      const TimePoint now = home_.clock().now();
      limit(now + (deadline_ - now) / static_cast<Duration::rep>(addresses_.size() - tried_ + 1));
    }
    auto done = [pending = pending_, attempt = tried_](const boost::system::error_code&) {
      if (pending->connector && pending->connector->tried_ == attempt) pending->connector->answered();
    };
    pending_->socket->async_wait(Watched::wait_write, std::move(done));
    return;
  }
  finish(unavailable(to_.text() + ": " + failures_));
}

void Connector::answered() {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(pending_->socket->native_handle(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error == 0) return connected();
  note(system_text(error));
  try_next();
}

void Connector::connected() {
  const SocketAddress& peer = addresses_[tried_ - 1];
  // A connect to a local port nobody listens on may meet itself (TCP's simultaneous open).
  if (local_address(pending_->socket->native_handle()) == peer) {
    note(system_text(ECONNREFUSED));
    return try_next();
  }
  finish(std::unique_ptr<ByteStream>(std::make_unique<TcpStream>(std::move(*pending_->socket), peer)));
}

void Connector::expired() {
  if (addresses_.empty() || tried_ == addresses_.size()) return finish(late());
  note("no answer");
  try_next();
}

void Connector::note(const std::string& what) {
  constexpr std::size_t enough = 400;
  if (failures_.size() > enough) return;
  if (!failures_.empty()) failures_ += "; ";
  if (to_.form == HostPort::Form::name) failures_ += to_text(addresses_[tried_ - 1]) + " ";
  failures_ += what;
}

void Connector::limit(TimePoint at) {
  if (at != never) home_.clock().arm(limit_, at);
}

Error Connector::late() const {
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(home_.clock().now() - started_).count();
  const std::string what = addresses_.empty() && tried_ == 0 && to_.form == HostPort::Form::name && waited > 0
                               ? ": the host name was not resolved within "
                               : ": not connected within ";
  std::string text = to_.text() + what + std::to_string(waited) + " ms";
  if (!failures_.empty()) text += " (" + failures_ + ")";
  return Error(Errc::deadline_exceeded, std::move(text), Delivery::not_run, Advice::other_instance);
}

void Connector::finish(Result<std::unique_ptr<ByteStream>> result) {
  home_.clock().cancel(limit_);
  pending_->connector = nullptr;
  pending_->socket.reset();
  pending_->resolver.cancel();
  result_ = std::move(result);
  finished_ = true;
  if (suspended_) caller_.resume();
}

}  // namespace tenon::tcp
