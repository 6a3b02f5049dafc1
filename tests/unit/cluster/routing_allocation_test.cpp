// Routing a call allocates nothing: every operator new of this process is counted.
#include <atomic>
#include <cstdlib>
#include <new>

#include "routing/router_chain.hpp"
#include "routing_fixture.hpp"
#include "traffic/router.hpp"

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

namespace tenon::cluster::routing {
namespace {

class RoutingAllocation : public RoutingTest {};

TEST_F(RoutingAllocation, AChoiceAllocatesNothing) {
  for (int i = 0; i < 20; ++i)
    add("instance-with-a-long-name-" + std::to_string(i), {{"tag", "a tag of some length " + std::to_string(i % 4)}});
  const Environment environment{executor, log, executor.clock()};
  const auto chain = RouterChain::of({std::move(*traffic::TrafficRouter::create({}, environment)),
                                      std::move(*RulesRouter::create(options, environment))})
                         ->for_service(service);
  const auto table = chain->compile(members, {document(R"({"rules":[
      {"when":[{"attribute":"header.a-header-with-a-long-name","matches":"*of?some*9"}]},
      {"when":[{"attribute":"hash_key","from":3},{"attribute":"method","in":["a","b","getUserByItsLongName"]}],
       "to":[{"attribute":"metadata.tag","same_as":"header.a-header-with-a-long-name"}]},
      {"when":[{"attribute":"percent","below":50}],"to":[{"attribute":"id","suffix":"1"}]}]})")});
  ASSERT_TRUE(table.ok()) << table.error().text();
  request.headers.set("a-header-with-a-long-name", "a tag of some length 3");
  call("getUserByItsLongName");
  const std::size_t before = allocations;
  std::size_t chosen = 0;
  for (std::uint64_t key = 0; key < 1000; ++key) {
    request.hash_key = key % 7;
    const int first = (*table)->choose(request);
    chosen += first >= 0;
    (void)(*table)->next(request, first);
  }
  EXPECT_EQ(allocations - before, 0u);
  EXPECT_EQ(chosen, 1000u);
}

}  // namespace
}  // namespace tenon::cluster::routing

#endif
