#include "client/pending_table.hpp"

#include <gtest/gtest.h>

#include "client/backoff.hpp"
#include "server/call_table.hpp"

namespace tenon {
namespace {

Exchange* fake(std::uintptr_t n) { return reinterpret_cast<Exchange*>(n * 16); }

TEST(PendingTable, NumbersAreSmallAndUsedAgain) {
  PendingTable table;
  const std::uint32_t a = table.add(fake(1));
  const std::uint32_t b = table.add(fake(2));
  EXPECT_EQ(a, 0u);
  EXPECT_EQ(b, 1u);
  bool known = false;
  EXPECT_EQ(table.take(a, known), fake(1));
  EXPECT_TRUE(known);
  EXPECT_EQ(table.add(fake(3)), a);
  EXPECT_EQ(table.waiting(), 2u);
}

TEST(PendingTable, AnOrphansNumberIsReservedUntilItsAnswer) {
  PendingTable table;
  const std::uint32_t late = table.add(fake(1));
  table.orphan(late);
  EXPECT_EQ(table.waiting(), 0u);
  EXPECT_EQ(table.orphans(), 1u);
  EXPECT_NE(table.add(fake(2)), late);
  bool known = false;
  EXPECT_EQ(table.take(late, known), nullptr);
  EXPECT_TRUE(known);
  EXPECT_EQ(table.orphans(), 0u);
  EXPECT_EQ(table.add(fake(3)), late);
}

TEST(PendingTable, AnswersToNobodyAreTold) {
  PendingTable table;
  bool known = true;
  EXPECT_EQ(table.take(0, known), nullptr);
  EXPECT_FALSE(known);
  const std::uint32_t number = table.add(fake(1));
  EXPECT_EQ(table.take(number, known), fake(1));
  EXPECT_EQ(table.take(number, known), nullptr);  // a second answer to one call
  EXPECT_FALSE(known);
  EXPECT_EQ(table.take(0xFFFFFFFFu, known), nullptr);
  EXPECT_FALSE(known);
}

TEST(PendingTable, TakeAnyEmptiesIt) {
  PendingTable table;
  for (std::uintptr_t i = 1; i <= 100; ++i) table.add(fake(i));
  table.orphan(5);
  int taken = 0;
  while (table.take_any()) ++taken;
  EXPECT_EQ(taken, 99);
  EXPECT_EQ(table.waiting(), 0u);
}

TEST(CallTable, FindsWhatIsInIt) {
  CallTable table;
  std::vector<CallLink> links(1000);
  for (std::uint32_t i = 0; i < links.size(); ++i) {
    links[i].number = i * 0x01000193u;  // spread, and colliding in the low bits
    table.add(links[i]);
  }
  EXPECT_EQ(table.size(), 1000u);
  for (CallLink& link : links) EXPECT_EQ(table.find(link.number), &link);
  for (std::uint32_t i = 0; i < links.size(); i += 2) table.remove(links[i]);
  EXPECT_EQ(table.size(), 500u);
  EXPECT_EQ(table.find(links[0].number), nullptr);
  EXPECT_EQ(table.find(links[1].number), &links[1]);
  while (CallLink* link = table.any()) table.remove(*link);
  EXPECT_EQ(table.size(), 0u);
}

TEST(Backoff, StaysWithinItsBoundsForEver) {
  Backoff backoff(1, std::chrono::seconds(30));
  Duration first = backoff.next();
  EXPECT_GE(first, std::chrono::milliseconds(25));
  EXPECT_LE(first, std::chrono::milliseconds(175));
  for (int i = 0; i < 10'000; ++i) {
    const Duration pause = backoff.next();
    ASSERT_GE(pause, std::chrono::milliseconds(25));
    ASSERT_LE(pause, std::chrono::milliseconds(52'500));
  }
  EXPECT_GE(backoff.next(), std::chrono::milliseconds(7'500));
  backoff.reset();
  EXPECT_LE(backoff.next(), std::chrono::milliseconds(175));
  Backoff impatient(1, std::chrono::milliseconds(40));
  for (int i = 0; i < 100; ++i) ASSERT_LE(impatient.next(), std::chrono::milliseconds(70));
}

}  // namespace
}  // namespace tenon
