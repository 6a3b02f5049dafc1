#pragma once
// A server that knows nothing of Tenon: it answers motan2 requests with frames recorded from Go and Java servers.

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace cli_test {

/// "08 05 09d8" as bytes.
std::string from_hex(const std::string& text);

/// One request as it came.
struct MotanRequest {
  std::string head;  ///< the 5 bytes before the request id
  std::map<std::string, std::string> metadata;
  std::string body;
};

/// Methods: `hello` answers "hello Ray", `add` int64 297, `map` {1: true, "f": f32 0.5, "b": bytes 00 ff}, `boom`
/// throws (30001), `silence` never answers. Any other interface than com.weibo.motan.demo.service.MotanDemoService does
/// not exist (404). Threads: answers in one of its own, one connection after the other.
class MotanPeer {
 public:
  MotanPeer();
  MotanPeer(const MotanPeer&) = delete;
  MotanPeer& operator=(const MotanPeer&) = delete;
  ~MotanPeer();

  /// "127.0.0.1:40123"; empty: the port could not be opened.
  const std::string& address() const noexcept { return address_; }
  /// Every request so far, heartbeats left out.
  std::vector<MotanRequest> requests() const;

 private:
  void serve();
  /// Reads once; false: the connection is over.
  bool receive(int connection, std::string& input);
  /// Takes complete frames off `input` and answers them; false: what came is no motan2, or writing failed.
  bool answer_all(int connection, std::string& input);
  std::string answer_to(const MotanRequest& request) const;

  int listener_ = -1;
  std::string address_;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::vector<MotanRequest> requests_;
  std::thread thread_;
};

}  // namespace cli_test
