#include "motan_peer.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace cli_test {

namespace {

constexpr std::size_t id_at = 5;
constexpr std::size_t metadata_at = 17;
constexpr std::size_t most = 1u << 20;
constexpr char heartbeat_bit = 0x10;

// Whole frames as recorded; the request id is put in when they are sent.
constexpr const char* hello_answer =
    "f1f1 01 08 30 18ecb2f5cf300002 00000006 4d5f70740a30 0000000e 01 00000009 68656c6c6f20526179";
constexpr const char* add_answer = "f1f1 01 08 30 18ecb2f5d8300003 00000006 4d5f70740a30 00000003 09d204";
constexpr const char* unknown_service_answer =
    "f1f1 01 09 30 18ecb2f605300008 00000067"
    "4d5f70740a300a4d5f650a7b22657272636f6465223a3430342c226572726d73"
    "67223a2270726f7669646572206e6f7420657869737420736572766963654b65"
    "793d636f6d2e776569626f2e4e6f5375636853657276696365222c2265727274"
    "797065223a317d 00000000";
constexpr const char* thrown_answer =
    "f1f1 01 09 30 1a22a62cb5300009 00000060"
    "4d5f70740a38320a4d5f650a7b22657272636f6465223a33303030312c226572"
    "7274797065223a322c226572726d7367223a2270726f76696465722063616c6c"
    "2070726f63657373206572726f722c206f7267206572723a626f6f6d2078227d 00000000";
// Put together from the same parts: a map of int32, string keys and bool, float32, bytes values.
constexpr const char* map_answer =
    "f1f1 01 08 30 0000000000000000 00000006 4d5f70740a30 00000021"
    "14 0000001c 0802 0501 01 00000001 66 0a 3f000000 01 00000001 62 03 00000002 00ff";
constexpr const char* heartbeat_answer = "f1f1 01 08 30 0000000000000000 00000000 00000000";

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

// "name\nvalue\nname\nvalue"
std::map<std::string, std::string> split(std::string_view text) {
  std::map<std::string, std::string> metadata;
  while (!text.empty()) {
    std::string words[2];
    for (std::string& word : words) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      word = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    metadata[words[0]] = words[1];
  }
  return metadata;
}

bool write_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

std::string from_hex(const std::string& text) {
  std::string digits;
  for (const char c : text)
    if (c != ' ') digits += c;
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

MotanPeer::MotanPeer() {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, 16) != 0 || ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return;
  address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  thread_ = std::thread([this] { serve(); });
}

MotanPeer::~MotanPeer() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
  if (listener_ >= 0) ::close(listener_);
}

std::vector<MotanRequest> MotanPeer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void MotanPeer::serve() {
  std::map<int, std::string> connections;  // what each has sent and not finished
  while (!stopping_) {
    std::vector<pollfd> ends{{listener_, POLLIN, 0}};
    for (const auto& [connection, input] : connections) ends.push_back({connection, POLLIN, 0});
    if (::poll(ends.data(), ends.size(), 20) <= 0) continue;
    for (const pollfd& end : ends) {
      if (end.revents == 0) continue;
      if (end.fd == listener_) {
        const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection >= 0) connections[connection];
      } else if (!receive(end.fd, connections[end.fd])) {
        ::close(end.fd);
        connections.erase(end.fd);
      }
    }
  }
  for (const auto& [connection, input] : connections) ::close(connection);
}

bool MotanPeer::receive(int connection, std::string& input) {
  char buffer[4096];
  const ssize_t got = ::recv(connection, buffer, sizeof buffer, 0);
  if (got <= 0) return false;
  input.append(buffer, static_cast<std::size_t>(got));
  return answer_all(connection, input);
}

bool MotanPeer::answer_all(int connection, std::string& input) {
  if (input.size() >= 2 && input.compare(0, 2, "\xf1\xf1") != 0) return false;
  while (input.size() >= metadata_at) {
    if (input.compare(0, 2, "\xf1\xf1") != 0) return false;
    const std::size_t metadata = number_at(input, metadata_at - 4);
    if (metadata > most) return false;
    if (input.size() < metadata_at + metadata + 4) return true;
    const std::size_t body = number_at(input, metadata_at + metadata);
    if (body > most) return false;
    const std::size_t whole = metadata_at + metadata + 4 + body;
    if (input.size() < whole) return true;
    MotanRequest request{input.substr(0, id_at), split(std::string_view(input).substr(metadata_at, metadata)),
                         input.substr(whole - body, body)};
    std::string answer;
    if ((input[2] & heartbeat_bit) != 0) {
      answer = from_hex(heartbeat_answer);
      answer[2] = static_cast<char>(input[2] | 1);
    } else {
      answer = answer_to(request);
      const std::lock_guard lock(mutex_);
      requests_.push_back(std::move(request));
    }
    if (!answer.empty()) answer.replace(id_at, 8, input, id_at, 8);
    if (!write_all(connection, answer)) return false;
    input.erase(0, whole);
  }
  return true;
}

std::string MotanPeer::answer_to(const MotanRequest& request) const {
  const auto value = [&](const char* name) {
    const auto found = request.metadata.find(name);
    return found == request.metadata.end() ? std::string() : found->second;
  };
  const std::string method = value("M_m");
  if (value("M_p") != "com.weibo.motan.demo.service.MotanDemoService") return from_hex(unknown_service_answer);
  if (method == "hello") return from_hex(hello_answer);
  if (method == "add") return from_hex(add_answer);
  if (method == "map") return from_hex(map_answer);
  if (method == "boom") return from_hex(thrown_answer);
  return {};
}

}  // namespace cli_test
