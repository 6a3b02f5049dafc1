#include "last_words.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace tenon::tls {

namespace {
constexpr auto patience = std::chrono::seconds(5);
}

LastWords::LastWords(tcp::Watched socket, std::string bytes)
    : socket_(std::move(socket)), limit_(socket_.get_executor()), bytes_(std::move(bytes)) {}

void LastWords::say(std::unique_ptr<tcp::TcpStream> socket, std::string bytes) {
  const std::shared_ptr<LastWords> words(new LastWords(socket->release(), std::move(bytes)));
  words->limit_.expires_after(patience);
  words->limit_.async_wait([weak = std::weak_ptr(words)](const boost::system::error_code& error) {
    const auto late = weak.lock();
    boost::system::error_code ignored;
    if (late && !error) late->socket_.close(ignored);
  });
  words->go_on();
}

void LastWords::go_on() {
  while (sent_ < bytes_.size()) {
    const ssize_t put =
        ::send(socket_.native_handle(), bytes_.data() + sent_, bytes_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put >= 0) {
      sent_ += static_cast<std::size_t>(put);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return socket_.async_wait(tcp::Watched::wait_write,
                                [self = shared_from_this()](const boost::system::error_code& error) {
                                  if (!error) self->go_on();
                                });
    } else if (errno != EINTR) {
      return;
    }
  }
}

}  // namespace tenon::tls
