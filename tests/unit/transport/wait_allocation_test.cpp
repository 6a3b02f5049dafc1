// A wait allocates nothing: every operator new of this process is counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <new>
#include <string>

#include "memory_transport.hpp"
#include "support/recording_log.hpp"
#include "support/test_executor.hpp"
#include "tcp_transport.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(TENON_UNDER_TSAN)

namespace {
std::atomic<std::size_t> allocations{0};
}

void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tenon::test {
namespace {

/// Sends a byte to itself and waits for it, over and over; counts what the last rounds allocated.
struct PingPong {
  ByteStream& writer;
  ByteStream& reader;
  std::promise<std::size_t>& done;
  int round = 0;
  std::size_t at_start = 0;

  void step() {
    char byte = 'x';
    if (round > 0) {
      EXPECT_EQ(reader.try_read(&byte, 1).status, IoResult::Status::done);
    }
    if (round == 100) at_start = allocations;
    if (round == 1100) return done.set_value(allocations - at_start);
    ++round;
    reader.wait_readable({[](void* self) noexcept { static_cast<PingPong*>(self)->step(); }, this});
    const std::string_view part(&byte, 1);
    EXPECT_EQ(writer.try_write({&part, 1}).status, IoResult::Status::done);
  }
};

std::size_t allocations_of_a_thousand_waits(Transport& transport, const std::string& address, TestExecutor& loop) {
  auto listener = loop.call([&] { return transport.listen(address, loop); });
  EXPECT_TRUE(listener.ok());
  const std::string bound = (*listener)->address();
  auto client = loop.run([&] { return transport.connect(bound, loop, never); });
  auto server = loop.run([&] { return (*listener)->accept(loop); });
  EXPECT_TRUE(client.ok() && server.ok());
  std::promise<std::size_t> done;
  PingPong ping{**client, **server, done};
  auto counted = done.get_future();
  loop.call([&] { ping.step(); });
  EXPECT_EQ(counted.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  loop.call([&] {
    client->reset();
    server->reset();
    listener->reset();
  });
  return counted.get();
}

TEST(WaitAllocation, TcpWaitsAllocateNothing) {
  TestExecutor loop;
  RecordingLog log;
  auto transport = tcp::TcpTransport::create({}, Environment{loop, log, loop.clock()});
  ASSERT_TRUE(transport.ok());
  EXPECT_EQ(allocations_of_a_thousand_waits(**transport, "127.0.0.1:0", loop), 0u);
}

TEST(WaitAllocation, MemoryWaitsAllocateNothing) {
  TestExecutor loop;
  RecordingLog log;
  auto transport = mem::MemoryTransport::create({}, Environment{loop, log, loop.clock()});
  ASSERT_TRUE(transport.ok());
  EXPECT_EQ(allocations_of_a_thousand_waits(**transport, "allocation test", loop), 0u);
}

}  // namespace
}  // namespace tenon::test

#endif
