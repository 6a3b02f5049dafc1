#include "app/reachable_address.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon {
namespace {

InterfaceAddress v4(const std::string& interface, const std::string& host) {
  return {interface, host, false, true, false, false};
}
InterfaceAddress v6(const std::string& interface, const std::string& host) {
  return {interface, host, true, true, false, false};
}
const InterfaceAddress lo4{"lo", "127.0.0.1", false, true, true, false};
const InterfaceAddress lo6{"lo", "::1", true, true, true, false};

TEST(ReachableHost, IsTheOneWithTheDefaultRoute) {
  const HostAddresses both{"10.0.0.7", "2001:db8::7", {v4("aaa", "192.168.0.1"), v6("aaa", "fd00::1")}};
  EXPECT_EQ(reachable_host(both, false), "10.0.0.7");
  EXPECT_EQ(reachable_host(both, true), "10.0.0.7") << "IPv4 first";
  const HostAddresses only6{"", "2001:db8::7", {v4("aaa", "192.168.0.1")}};
  EXPECT_EQ(reachable_host(only6, true), "[2001:db8::7]");
  EXPECT_EQ(reachable_host(only6, false), "192.168.0.1") << "who listens on IPv4 is not reached by IPv6";
  EXPECT_EQ(reachable_host({"127.0.0.1", "::1", {v4("eth0", "10.1.1.1")}}, true), "10.1.1.1") << "no loopback";
}

TEST(ReachableHost, ElseTheFirstInterfaceByNameInWhateverOrderTheyAreFound) {
  InterfaceAddress down = v4("a0", "10.9.9.9");
  down.up = false;
  InterfaceAddress local = v4("a1", "169.254.3.4");
  local.link_local = true;
  std::vector<InterfaceAddress> all{
      v4("eth1", "10.0.0.2"),   lo4, v4("eth0", "10.0.0.9"), down, v4("eth0", "10.0.0.3"), lo6, local,
      v6("eth0", "2001:db8::2")};
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(reachable_host({"", "", all}, false), "10.0.0.3");
    EXPECT_EQ(reachable_host({"", "", all}, true), "10.0.0.3");
    std::next_permutation(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.host < b.host; });
  }
  InterfaceAddress link = v6("a0", "fe80::1");
  link.link_local = true;
  EXPECT_EQ(reachable_host({"", "", {link, lo6, v6("eth0", "2001:db8::2"), lo4}}, true), "[2001:db8::2]");
  EXPECT_EQ(reachable_host({"", "", {link, lo6, lo4}}, true), "127.0.0.1") << "when there is nothing else";
}

TEST(AnnouncedAddress, FollowsTheRules) {
  const HostAddresses addresses{"10.0.0.7", "", {v6("eth0", "2001:db8::2")}};
  const auto told = [&](const std::string& bound, const std::string& announce = "") {
    return announced_address(bound, announce, addresses);
  };
  EXPECT_EQ(told("0.0.0.0:4080"), "10.0.0.7:4080");
  EXPECT_EQ(told("[::]:4080"), "10.0.0.7:4080");
  EXPECT_EQ(told("127.0.0.1:4080"), "127.0.0.1:4080") << "an address is told as it is";
  EXPECT_EQ(told("[::1]:4080"), "[::1]:4080");
  EXPECT_EQ(told("192.168.1.1:4080"), "192.168.1.1:4080");
  EXPECT_EQ(told("unix:/run/x.sock"), "unix:/run/x.sock");
  EXPECT_EQ(told("memory-name"), "memory-name");
  EXPECT_EQ(told("0.0.0.0:4080", "none"), "");
  EXPECT_EQ(told("0.0.0.0:4080", "greeter.example.com:80"), "greeter.example.com:80");
  EXPECT_EQ(told("0.0.0.0:4080", "greeter.example.com:0"), "greeter.example.com:4080") << "the port that is bound";
  EXPECT_EQ(told("0.0.0.0:4080", "[2001:db8::9]:0"), "[2001:db8::9]:4080");
  EXPECT_EQ(told("unix:/run/x.sock", "unix:/run/y:0"), "unix:/run/y:0") << "no port, nothing to fill in";
}

TEST(Loopback, IsWhatOnlyThisMachineCanCall) {
  for (const char* address : {"127.0.0.1:80", "127.8.9.1:0", "[::1]:80", "localhost:80"})
    EXPECT_TRUE(is_loopback(address)) << address;
  for (const char* address : {"10.0.0.1:80", "128.0.0.1:80", "[::2]:80", "localhost.example.com:80", "127.0.0.1",
                              "127.example.com:80", "unix:/x", "", ":", "127.0.0.1.127.0.0.1.127.0.0.1:80"})
    EXPECT_FALSE(is_loopback(address)) << address;
}

}  // namespace
}  // namespace tenon
