#include "tcp_stream.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "unix_address.hpp"

namespace tenon::tcp {

namespace {

/// Memory for one wait operation of Asio, used over and over: a wait allocates nothing, whichever thread cache is warm.
class Slot {
 public:
  void* take(std::size_t size) {
    if (taken_ || size > sizeof memory_) return ::operator new(size);
    taken_ = true;
    return memory_;
  }
  void give(void* memory) noexcept {
    if (memory == memory_)
      taken_ = false;
    else
      ::operator delete(memory);
  }

 private:
  alignas(std::max_align_t) unsigned char memory_[192];
  bool taken_ = false;
};

template <class T>
struct SlotAllocator {
  using value_type = T;
  explicit SlotAllocator(Slot& s) noexcept : slot(&s) {}
  template <class U>
  SlotAllocator(const SlotAllocator<U>& other) noexcept : slot(other.slot) {}
  T* allocate(std::size_t n) { return static_cast<T*>(slot->take(n * sizeof(T))); }
  void deallocate(T* memory, std::size_t) noexcept { slot->give(memory); }
  template <class U>
  bool operator==(const SlotAllocator<U>& other) const noexcept {
    return slot == other.slot;
  }
  Slot* slot;
};

struct Wait {
  Completion done;
  Slot slot;
};

IoResult failed(int error) noexcept { return {IoResult::Status::failed, 0, error}; }

}  // namespace

/// What outlives the stream until Asio has let go of its handlers. Counted without atomics: one thread.
struct TcpStream::Waits {
  std::uint32_t owners = 1;
  Wait read;
  Wait write;
  void drop() noexcept {
    if (--owners == 0) delete this;
  }
};

class TcpStream::WaitHandler {
 public:
  using allocator_type = SlotAllocator<void>;
  WaitHandler(Waits& waits, Wait& wait) noexcept : waits_(&waits), wait_(&wait) { ++waits_->owners; }
  WaitHandler(const WaitHandler& other) noexcept : waits_(other.waits_), wait_(other.wait_) { ++waits_->owners; }
  WaitHandler& operator=(const WaitHandler&) = delete;
  ~WaitHandler() { waits_->drop(); }
  allocator_type get_allocator() const noexcept { return allocator_type(wait_->slot); }
  void operator()(const boost::system::error_code&) const {
    // Cleared when the stream was destroyed. Failures show in the read or write that follows.
    const Completion done = std::exchange(wait_->done, {});
    if (done.run) done.run(done.self);
  }

 private:
  Waits* waits_;
  Wait* wait_;
};

namespace {
PeerInfo facts(int fd, const SocketAddress& peer) {
  if (peer.family() == AF_UNIX) return unix_info(fd);
  PeerInfo info;
  info.peer = to_text(peer);
  info.local = to_text(local_address(fd));
  return info;
}
}  // namespace

TcpStream::TcpStream(Watched socket, const SocketAddress& peer)
    : socket_(std::move(socket)), fd_(socket_.native_handle()), info_(facts(fd_, peer)), waits_(new Waits) {}

TcpStream::TcpStream(Watched socket, PeerInfo info)
    : socket_(std::move(socket)), fd_(socket_.native_handle()), info_(std::move(info)), waits_(new Waits) {}

TcpStream::~TcpStream() {
  waits_->read.done = waits_->write.done = {};
  boost::system::error_code ignored;
  socket_.close(ignored);
  waits_->drop();
}

IoResult TcpStream::try_read(char* into, std::size_t size) noexcept {
  while (true) {
    const ssize_t got = ::recv(fd_, into, size, MSG_DONTWAIT);
    if (got > 0) return {IoResult::Status::done, static_cast<std::size_t>(got), 0};
    if (got == 0) return {size == 0 ? IoResult::Status::would_block : IoResult::Status::end, 0, 0};
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {IoResult::Status::would_block, 0, 0};
    if (errno != EINTR) return failed(errno);
  }
}

IoResult TcpStream::try_write(std::span<const std::string_view> parts) noexcept {
  constexpr std::size_t most = 64;
  iovec vectors[most];
  std::size_t count = 0;
  for (const std::string_view part : parts) {
    if (part.empty()) continue;
    vectors[count++] = {const_cast<char*>(part.data()), part.size()};
    if (count == most) break;
  }
  if (count == 0) return {};
  msghdr message{};
  message.msg_iov = vectors;
  message.msg_iovlen = count;
  while (true) {
    const ssize_t put = ::sendmsg(fd_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put >= 0) return {IoResult::Status::done, static_cast<std::size_t>(put), 0};
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {IoResult::Status::would_block, 0, 0};
    if (errno != EINTR) return failed(errno);
  }
}

void TcpStream::wait_readable(Completion done) noexcept {
  waits_->read.done = done;
  socket_.async_wait(Watched::wait_read, WaitHandler(*waits_, waits_->read));
}

void TcpStream::wait_writable(Completion done) noexcept {
  waits_->write.done = done;
  socket_.async_wait(Watched::wait_write, WaitHandler(*waits_, waits_->write));
}

Watched TcpStream::release() noexcept {
  waits_->read.done = waits_->write.done = {};
  boost::system::error_code ignored;
  socket_.cancel(ignored);
  return std::move(socket_);
}

void TcpStream::finish() noexcept { (void)::shutdown(fd_, SHUT_WR); }

}  // namespace tenon::tcp
