#pragma once
// An HTTP client by hand: says anything, reads answers with a Content-Length.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "support/raw_socket.hpp"

namespace tenon::test {

struct HttpAnswer {
  int status = 0;  ///< 0: there was none
  std::string head, body;
  bool says(std::string_view line) const { return head.find("\r\n" + std::string(line) + "\r\n") != std::string::npos; }
};

class HttpPeer {
 public:
  explicit HttpPeer(const std::string& address) : socket_(address) { EXPECT_TRUE(socket_.connected()); }

  bool send(const std::string& bytes) { return socket_.send(bytes); }
  bool post(const std::string& path, const std::string& body, const std::string& fields = {}) {
    return send("POST " + path + " HTTP/1.1\r\nHost: h\r\n" + fields +
                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  /// The next answer; of status 0 when the peer closed or nothing came for 5 s.
  HttpAnswer receive() {
    HttpAnswer answer;
    while (bytes_.find("\r\n\r\n") == std::string::npos)
      if (!socket_.receive(bytes_, bytes_.size() + 1, 5000)) return answer;
    answer.head = bytes_.substr(0, bytes_.find("\r\n\r\n") + 4);
    constexpr std::string_view length = "\r\nContent-Length: ";
    const std::size_t at = answer.head.find(length);
    const std::size_t size =
        at == std::string::npos ? 0 : std::strtoull(answer.head.c_str() + at + length.size(), nullptr, 10);
    if (!socket_.receive(bytes_, answer.head.size() + size, 5000)) return answer;
    answer.body = bytes_.substr(answer.head.size(), size);
    bytes_.erase(0, answer.head.size() + size);
    answer.status = std::atoi(answer.head.c_str() + 9);
    return answer;
  }
  bool closed() { return bytes_.empty() && socket_.closed_within(5000); }

 private:
  RawSocket socket_;
  std::string bytes_;
};

}  // namespace tenon::test
