#include "address.hpp"

#include <gtest/gtest.h>

namespace tenon::tcp {
namespace {

TEST(TcpAddress, TakesApartWhatIsWellFormed) {
  struct Case {
    const char* text;
    const char* host;
    std::uint16_t port;
    HostPort::Form form;
  };
  using Form = HostPort::Form;
  for (const Case& c : {Case{"1.2.3.4:80", "1.2.3.4", 80, Form::ipv4}, Case{"0.0.0.0:0", "0.0.0.0", 0, Form::ipv4},
                        Case{"[::1]:65535", "::1", 65535, Form::ipv6},
                        Case{"[fe80::1%eth0]:80", "fe80::1%eth0", 80, Form::ipv6},
                        Case{"localhost:0", "localhost", 0, Form::name},
                        Case{"a-b_c.example.com:4080", "a-b_c.example.com", 4080, Form::name}}) {
    const auto parsed = parse_address(c.text);
    ASSERT_TRUE(parsed.ok()) << c.text << ": " << parsed.error().text();
    EXPECT_EQ(parsed->host, c.host);
    EXPECT_EQ(parsed->port, c.port);
    EXPECT_EQ(parsed->form, c.form);
    EXPECT_EQ(parsed->text(), c.text);
  }
}

TEST(TcpAddress, RefusesTheRestAndSaysWhy) {
  struct Case {
    const char* text;
    const char* why;
  };
  for (const Case& c : {Case{"", "write host:port"},
                        Case{"localhost", "port is missing"},
                        Case{"localhost:", "is no port"},
                        Case{"localhost:99999", "'99999' is no port"},
                        Case{"localhost:65536", "from 0 to 65535"},
                        Case{"localhost:80x", "'80x' is no port"},
                        Case{"localhost:-1", "'-1' is no port"},
                        Case{"localhost:+1", "is no port"},
                        Case{"localhost: 80", "' 80' is no port"},
                        Case{"localhost:80 ", "is no port"},
                        Case{"localhost:000080", "is no port"},
                        Case{":80", "0.0.0.0:80 or [::]:80"},
                        Case{"::1:80", "[::1]:80"},
                        Case{"fe80::1", "[::1]:80"},
                        Case{"[::1:80", "']' is missing"},
                        Case{"[::1]", "port is missing"},
                        Case{"[::1]80", "port is missing"},
                        Case{"[1.2.3.4]:80", "no IPv6 address"},
                        Case{"[]:80", "no IPv6 address"},
                        Case{"[fe80::1%]:80", "name of a network interface"},
                        Case{"[fe80::1%averyveryverylongname]:80", "name of a network interface"},
                        Case{"1.2.3:80", "no IPv4 address"},
                        Case{"256.1.1.1:80", "no IPv4 address"},
                        Case{"a b:80", "neither a host name"},
                        Case{"tcp://host:80", "more than one ':'"},
                        Case{"h\nost:80", "neither a host name"}}) {
    const auto parsed = parse_address(c.text);
    ASSERT_FALSE(parsed.ok()) << c.text;
    EXPECT_EQ(parsed.error().code(), Errc::config);
    EXPECT_NE(parsed.error().text().find(c.why), std::string::npos) << c.text << " -> " << parsed.error().text();
  }
  EXPECT_FALSE(parse_address(std::string(300, 'a') + ":80").ok());
  EXPECT_LT(parse_address(std::string(1u << 20, 'a')).error().text().size(), 500u);
}

TEST(TcpAddress, ShowsMappedAddressesAsIpv4) {
  const auto mapped = literal_address(*parse_address("[::ffff:10.0.0.1]:80"));
  ASSERT_TRUE(mapped);
  EXPECT_EQ(to_text(*mapped), "10.0.0.1:80");
  EXPECT_EQ(to_text(*literal_address(*parse_address("[2001:db8::1]:80"))), "[2001:db8::1]:80");
  EXPECT_FALSE(literal_address(*parse_address("[fe80::1%nosuch0]:80")));
  EXPECT_EQ(to_text(*literal_address(*parse_address("[fe80::1%lo]:80"))), "[fe80::1%lo]:80");
}

}  // namespace
}  // namespace tenon::tcp
