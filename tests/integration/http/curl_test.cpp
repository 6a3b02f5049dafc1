// What the README promises, said by the curl program itself.

#include <algorithm>

#include "services.hpp"
#include "support/child_process.hpp"

namespace tenon::test {
namespace {

constexpr std::string_view curl_program = TENON_TEST_CURL;

class Curl : public ::testing::Test {
 protected:
  void SetUp() override {
    if (curl_program.empty()) GTEST_SKIP() << "curl was not found when this was configured; install the package curl";
    AppOptions chosen = http_server_options();
    chosen.server.compress = Component("gzip");
    server_ = start_http(std::move(chosen));
    ASSERT_TRUE(server_);
  }
  std::string url(const std::string& path) const { return "http://" + host(*server_) + path; }
  /// What curl prints: the body, then " STATUS" (and more, as `format` says).
  std::string curl(std::vector<std::string> arguments, const std::string& format = " %{http_code}") {
    std::vector<std::string> all{"-sS", "--noproxy", "*", "--max-time", "10", "-w", format};
    all.insert(all.end(), arguments.begin(), arguments.end());
    ChildProcess program{std::string(curl_program), all};
    const ChildProcess::End end = program.end(std::chrono::seconds(15));
    code_ = end.code;
    return end.out + end.err;
  }
  std::unique_ptr<App> server_;
  int code_ = -1;
};

TEST_F(Curl, Calls) {
  EXPECT_EQ(curl({"-d", "{\"name\":\"x\"}", url("/demo.Greeter/SayHello")}), "{\"message\":\"Hello, x\"} 200");
  EXPECT_EQ(curl({"-d", "[\"x\"]", url("/test.Functions/hello")}), "\"hello x\" 200");
  EXPECT_EQ(curl({"-d", "[1,2]", "-H", "Content-Type: application/json", url("/test.Functions/add")}), "3 200");
  EXPECT_EQ(curl({"-X", "POST", url("/test.Functions/ready?group=&version=1")}), "true 200");
  EXPECT_EQ(curl({"-0", "-d", "[\"x\"]", url("/test.Functions/hello")}), "\"hello x\" 200");
  EXPECT_EQ(curl({"-H", "X-Tag: t", "-d", "{}", url("/demo.Greeter/SayHello")}), "{\"message\":\"Hello,  of t\"} 200");
}

TEST_F(Curl, IsToldWhatIsWrong) {
  EXPECT_EQ(curl({"-d", "{}", url("/demo.Greeter/NoSuchMethod")}),
            "{\"error\":{\"code\":\"not_found\",\"message\":\"service demo.Greeter has no method "
            "\\\"NoSuchMethod\\\"\",\"delivery\":\"not_run\"}} 404");
  EXPECT_TRUE(curl({url("/demo.Greeter/SayHello")}).ends_with(" 405"));
  EXPECT_TRUE(curl({"-I", url("/demo.Greeter/SayHello")}).ends_with(" 405"));
  EXPECT_TRUE(curl({"-F", "name=x", url("/demo.Greeter/SayHello")}).ends_with(" 415"));
  EXPECT_TRUE(curl({"-H", "x-timeout-ms: soon", "-d", "{}", url("/demo.Greeter/SayHello")}).ends_with(" 400"));
  EXPECT_EQ(curl({"-X", "OPTIONS", "-D", "-", "-o", "/dev/null", url("/demo.Greeter/SayHello")}),
            "HTTP/1.1 204 No Content\r\nAllow: POST, OPTIONS\r\n\r\n 204");
  (void)curl({"--http2-prior-knowledge", "-d", "{}", url("/demo.Greeter/SayHello")});
  EXPECT_NE(code_, 0);
  EXPECT_EQ(curl({"-d", "[\"x\"]", url("/test.Functions/hello")}), "\"hello x\" 200");
}

TEST_F(Curl, ReusesItsConnection) {
  EXPECT_EQ(
      curl({"-d", "[\"x\"]", url("/test.Functions/hello"), url("/test.Functions/hello"), url("/test.Functions/hello")},
           " %{num_connects},"),
      "\"hello x\" 1,\"hello x\" 0,\"hello x\" 0,");
}

TEST_F(Curl, SendsLargeBodiesEveryWay) {
  const std::string file = ::testing::TempDir() + "tenon_curl_" + std::to_string(::getpid());
  const auto write = [&](std::size_t size) {
    std::FILE* out = std::fopen(file.c_str(), "w");
    ASSERT_TRUE(out);
    const std::string text = "[\"" + std::string(size, 'b') + "\"]";
    EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), out), text.size());
    std::fclose(out);
  };
  write(3'000'000);
  const std::string data = "@" + file;
  // Above 1 MiB curl asks first, with Expect: 100-continue.
  EXPECT_EQ(curl({"--data-binary", data, url("/test.Functions/size")}), "3000000 200");
  EXPECT_EQ(curl({"--data-binary", data, "-H", "Expect:", url("/test.Functions/size")}), "3000000 200");
  EXPECT_EQ(curl({"--data-binary", data, "-H", "Transfer-Encoding: chunked", url("/test.Functions/size")}),
            "3000000 200");
  write(5'000'000);
  for (const char* header : {"X-None: 1", "Expect:", "Transfer-Encoding: chunked"}) {
    const std::string said = curl({"--data-binary", data, "-H", header, url("/test.Functions/size")});
    EXPECT_TRUE(said.ends_with(" 413")) << header << ": " << said;
    EXPECT_NE(said.find("limits.max_frame"), std::string::npos) << said;
  }
  std::remove(file.c_str());
}

TEST_F(Curl, GetsCompressedAnswersWhenItAsks) {
  const std::string format = " %{http_code} %{size_download}";
  const std::string plain = curl({"-d", "[100000]", url("/test.Functions/fill")}, format);
  EXPECT_TRUE(plain.ends_with(" 200 100002")) << plain.substr(100'000);
  const std::string zipped = curl({"--compressed", "-d", "[100000]", url("/test.Functions/fill")}, format);
  EXPECT_EQ(zipped.substr(0, 100'002), plain.substr(0, 100'002));
  EXPECT_LT(std::stoi(zipped.substr(zipped.rfind(' '))), 2000);
}

}  // namespace
}  // namespace tenon::test
