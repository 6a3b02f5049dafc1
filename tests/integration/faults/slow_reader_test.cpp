// A client that asks for much and reads nothing: the server's memory stays bounded, others are served as before.

#include <fcntl.h>

#include <iostream>

#include "conversation.hpp"
#include "integration/motan2/frames.hpp"
#include "measures.hpp"
#include "support/raw_socket.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;

constexpr int requests = 10'000;
constexpr std::int64_t reply = 64 << 10;  // all of them: 640 MB

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string text_of(const std::string& text) { return varint(text.size()) + text; }
std::string tenon_frame(const std::string& fields) { return varint(fields.size()) + fields; }

/// A tenon client's preface with the limits of the documentation.
std::string tenon_preface() {
  const std::string fields = varint(1) + varint(1) + varint(0) + varint(4u << 20) + varint(64u << 10) + varint(128) +
                             varint(65536) + text_of("");
  return "\x89TENON\r\n" + varint(fields.size()) + fields;
}
/// Request `call` for method fill(int64) of test.Fill in protobuf; names in full.
std::string tenon_request(std::uint64_t call) {
  const std::string body = '\x08' + varint(static_cast<std::uint64_t>(reply));
  return tenon_frame(std::string(1, '\x01') + varint(call) + varint(0) + text_of("") + text_of("test.Fill") +
                     text_of("") + text_of("fill") + text_of("protobuf") + text_of("") + varint(0) + body);
}
std::string motan_request(std::uint64_t id) {
  constexpr unsigned version1 = 1 << 3, simple = 6;
  return raw_frame(0, version1, simple, id, metadata_text({{"M_p", "test.Fill"}, {"M_m", "fill"}}),
                   '\x09' + varint(static_cast<std::uint64_t>(reply) << 1));
}
std::string http_request(std::uint64_t) {
  const std::string body = "[" + std::to_string(reply) + "]";
  return "POST /test.Fill/fill HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

struct Reader {
  std::string name;
  std::string (*request)(std::uint64_t);
  bool preface = false;
};
void PrintTo(const Reader& shown, std::ostream* out) { *out << shown.name; }

class SlowReader : public testing::TestWithParam<Reader> {};
INSTANTIATE_TEST_SUITE_P(Slow, SlowReader,
                         testing::Values(Reader{"tenon", tenon_request, true}, Reader{"motan2", motan_request},
                                         Reader{"http", http_request}),
                         [](const auto& info) { return info.param.name; });

TEST_P(SlowReader, CostsABoundedAmountAndHurtsNobody) {
  auto service = std::make_shared<Functions>("test.Fill");
  std::atomic<int> filled = 0;
  service->add("fill", [&](std::int64_t size) {
    ++filled;
    return std::string(static_cast<std::size_t>(size), 'x');
  });
  service->add("same", [](std::int64_t n) { return n; });
  AppOptions serving = fault_server_options({"tenon", "protobuf"});
  serving.server.listen[0].protocols = {Component("tenon"), Component("motan2"), Component("http")};
  auto server = start(std::move(serving), {service});
  ASSERT_TRUE(server);
  AppOptions calling = client_options("test.Fill", server->addresses()[0]);
  auto client = start(std::move(calling));
  ASSERT_TRUE(client);
  const ClientFunction<std::int64_t(std::int64_t)> same(client->reference("r"), "same");
  const ClientFunction<std::string(std::int64_t)> fill(client->reference("r"), "fill");
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(fill(reply).ok());
  const auto p99 = [&] {
    std::vector<double> each;
    for (int i = 0; i < 1000; ++i) {
      const auto begun = std::chrono::steady_clock::now();
      const Result<std::int64_t> answer = same(i);
      each.push_back(milliseconds_since(begun));
      EXPECT_TRUE(answer.ok()) << "call " << i << " after " << each.back() << " ms: " << answer.error().text();
    }
    return percentile(each, 99);
  };
  const double before = p99();
  const std::size_t resident = resident_kib();
  filled = 0;

  // One, then ten that ask as fast as they can.
  std::vector<std::unique_ptr<RawSocket>> readers;
  std::vector<std::size_t> growth;
  for (const int count : {1, 10}) {
    while (readers.size() < static_cast<std::size_t>(count)) {
      auto& reader = *readers.emplace_back(std::make_unique<RawSocket>(server->addresses()[0]));
      ASSERT_TRUE(reader.connected());
      const int small = 16 << 10;
      (void)::setsockopt(reader.fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
      std::string bytes = GetParam().preface ? tenon_preface() : "";
      for (std::uint64_t i = 0; i < requests; ++i) bytes += GetParam().request(i);
      (void)::fcntl(reader.fd(), F_SETFL, O_NONBLOCK);
      const auto until = std::chrono::steady_clock::now() + 2s;
      while (!bytes.empty() && std::chrono::steady_clock::now() < until) {
        const ssize_t sent = ::send(reader.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent > 0) bytes.erase(0, static_cast<std::size_t>(sent));
        if (sent < 0) std::this_thread::sleep_for(5ms);
      }
    }
    std::this_thread::sleep_for(500ms);
    growth.push_back(resident_kib() - std::min(resident, resident_kib()));
  }
  const double during = p99();
  std::cout << GetParam().name << ": " << filled << " handlers ran; resident +" << growth[0] << " KiB with one, +"
            << growth[1] << " KiB with ten; small calls of another client: p99 " << before << " ms before, " << during
            << " ms during\n";
  EXPECT_GT(filled, 50) << "the requests were not understood";
  // max_unwritten (4 MiB) counts what waits; one batch of requests read at once may come on top.
  EXPECT_LT(growth[0], 16u * 1024);
  EXPECT_LT(growth[1], 10u * 16 * 1024);
  EXPECT_LT(during, 5 * before + 1);
  readers.clear();
  EXPECT_TRUE(eventually([&] { return server->counts().server_connections == 1 && idle(*server); }));
}

}  // namespace
}  // namespace tenon::test
