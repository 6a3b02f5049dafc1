// A warm connection allocates nothing of its own and no buffers inside OpenSSL (which takes a few scraps of 40 bytes
// for each record it writes): both are counted. An idle one gives its record buffers back.
#include <openssl/crypto.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tls_fixture.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(TENON_UNDER_TSAN)

namespace {

std::atomic<std::size_t> allocations{0};
std::atomic<long> held_by_openssl{0};  // bytes
constexpr std::size_t scrap = 64;

struct alignas(std::max_align_t) Size {
  std::size_t bytes;
};

void* take(std::size_t size, const char*, int) {
  if (size > scrap) allocations.fetch_add(1, std::memory_order_relaxed);
  held_by_openssl.fetch_add(static_cast<long>(size), std::memory_order_relaxed);
  auto* head = static_cast<Size*>(std::malloc(sizeof(Size) + size));
  if (!head) return nullptr;
  head->bytes = size;
  return head + 1;
}
void give(void* memory, const char*, int) {
  if (!memory) return;
  Size* head = static_cast<Size*>(memory) - 1;
  held_by_openssl.fetch_sub(static_cast<long>(head->bytes), std::memory_order_relaxed);
  std::free(head);
}
void* resize(void* memory, std::size_t size, const char* file, int line) {
  void* moved = take(size, file, line);
  if (memory && moved) {
    std::memcpy(moved, memory, std::min(size, (static_cast<Size*>(memory) - 1)->bytes));
    give(memory, file, line);
  }
  return moved;
}

// Before OpenSSL's first allocation; it refuses afterwards.
const bool counted = CRYPTO_set_mem_functions(&take, &resize, &give) == 1;

}  // namespace

void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tenon::tls {
namespace {

/// Two ends of one connection, on one executor.
class TlsAllocation : public TlsTest {
 protected:
  void connect_pair() {
    ASSERT_TRUE(counted);
    transport_ = make(strict_options());
    ASSERT_TRUE(transport_);
    auto listener = server_.call([&] { return transport_->listen("127.0.0.1:0", server_); });
    ASSERT_TRUE(listener.ok());
    auto near = server_.run([&] { return transport_->connect((*listener)->address(), server_, never); });
    auto far = server_.run([&] { return (*listener)->accept(server_); });
    ASSERT_TRUE(near.ok() && far.ok());
    near_ = std::move(*near);
    far_ = std::move(*far);
    server_.call([&] { listener->reset(); });
  }
  void disconnect() {
    server_.call([&] {
      near_.reset();
      far_.reset();
    });
  }
  std::unique_ptr<TlsTransport> transport_;
  Stream near_;
  Stream far_;
};

/// Sends a small gathered message to itself and waits for it, over and over.
struct PingPong {
  ByteStream& writer;
  ByteStream& reader;
  std::promise<std::size_t>& done;
  int round = 0;
  std::size_t at_start = 0;

  void step() {
    char bytes[64];
    if (round > 0) {
      EXPECT_EQ(reader.try_read(bytes, sizeof bytes).bytes, 10u);
    }
    if (round == 100) at_start = allocations;
    if (round == 1100) return done.set_value(allocations - at_start);
    ++round;
    reader.wait_readable({[](void* self) noexcept { static_cast<PingPong*>(self)->step(); }, this});
    const std::string_view parts[] = {"head", "", "body", "ok"};
    EXPECT_EQ(writer.try_write(parts).bytes, 10u);
  }
};

TEST_F(TlsAllocation, AWarmConnectionAllocatesNothing) {
  connect_pair();
  std::promise<std::size_t> done;
  PingPong ping{*near_, *far_, done};
  auto finished = done.get_future();
  server_.call([&] { ping.step(); });
  ASSERT_EQ(finished.wait_for(30s), std::future_status::ready);
  EXPECT_EQ(finished.get(), 0u);
  disconnect();
}

TEST_F(TlsAllocation, AnIdleConnectionGivesItsBuffersBack) {
  connect_pair();
  EXPECT_EQ(server_.run([&] { return test::write_all(*near_, "hello"); }), 0);
  EXPECT_EQ(server_.run([&] { return test::read_all(*far_, 5); }).bytes, "hello");
  const long busy = held_by_openssl;
  EXPECT_TRUE(eventually([&] { return held_by_openssl < busy - 30000; })) << busy << " -> " << held_by_openssl;
  EXPECT_EQ(server_.run([&] { return test::write_all(*near_, "again"); }), 0);
  EXPECT_EQ(server_.run([&] { return test::read_all(*far_, 5); }).bytes, "again");
  disconnect();
}

}  // namespace
}  // namespace tenon::tls

#endif
