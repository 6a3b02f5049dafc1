#include "raw_epoll.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace bench {

namespace {

sockaddr_in loopback(std::uint16_t port) noexcept {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

void die(const char* what) {
  std::perror(what);
  std::exit(1);
}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

Socket Socket::listen(std::uint16_t port) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.fd() < 0) die("socket");
  const int on = 1;
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = loopback(port);
  if (::bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) die("bind");
  if (::listen(socket.fd(), 4096) != 0) die("listen");
  return socket;
}

Socket Socket::connect(std::uint16_t port) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.fd() < 0) die("socket");
  const sockaddr_in address = loopback(port);
  if (::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) die("connect");
  return socket;
}

std::uint16_t Socket::local_port() const {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0) die("getsockname");
  return ntohs(address.sin_port);
}

RawConnection::RawConnection(Socket socket, int epoll, std::size_t read_buffer)
    : socket_(std::move(socket)), epoll_(epoll), input_(read_buffer) {
  const int on = 1;
  ::setsockopt(socket_.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::fcntl(socket_.fd(), F_SETFL, O_NONBLOCK) != 0) die("fcntl");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = this;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket_.fd(), &event) != 0) die("epoll_ctl");
}

bool RawConnection::fill() {
  if (filled_ == input_.size()) input_.resize(input_.size() * 2);
  const ssize_t got = ::recv(socket_.fd(), input_.data() + filled_, input_.size() - filled_, 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  filled_ += static_cast<std::size_t>(got);
  return got > 0;
}

void RawConnection::reserve(std::size_t frame) {
  if (frame > largest_frame) {
    std::fprintf(stderr, "raw_epoll: a frame of %zu bytes is above the limit of %zu\n", frame, largest_frame);
    std::exit(1);
  }
  if (input_.size() < frame) input_.resize(frame + (64u << 10));
}

void RawConnection::consume(std::size_t bytes) noexcept {
  filled_ -= bytes;
  if (filled_ > 0 && bytes > 0) std::memmove(input_.data(), input_.data() + bytes, filled_);
}

bool RawConnection::flush() {
  while (has_output()) {
    const ssize_t sent = ::send(socket_.fd(), output_.data() + written_, output_.size() - written_, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) break;
      return false;
    }
    written_ += static_cast<std::size_t>(sent);
  }
  if (!has_output()) {
    output_.clear();
    written_ = 0;
  }
  if (has_output() != watching_) {
    watching_ = has_output();
    epoll_event event{};
    event.events = watching_ ? EPOLLIN | EPOLLOUT : EPOLLIN;
    event.data.ptr = this;
    if (::epoll_ctl(epoll_, EPOLL_CTL_MOD, socket_.fd(), &event) != 0) return false;
  }
  return true;
}

void RawConnection::send_now(const char* bytes, std::size_t size) {
  if (!has_output()) {
    const ssize_t sent = ::send(socket_.fd(), bytes, size, MSG_NOSIGNAL);
    const std::size_t done = sent > 0 ? static_cast<std::size_t>(sent) : 0;
    output_.append(bytes + done, size - done);
  } else {
    output_.append(bytes, size);
  }
}

}  // namespace bench
