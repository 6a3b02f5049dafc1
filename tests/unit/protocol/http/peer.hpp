#pragma once
// A server's session, what it gave to its sink, and a second, independent reader of what it writes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "session.hpp"

namespace tenon::http::test {

using namespace std::chrono_literals;

/// A copy of a received frame.
struct Seen {
  FrameKind kind;
  std::uint32_t call;
  bool loose_names;
  std::string group, interface, version, method, serializer, compressor, body;
  Duration remaining;
  Headers headers;

  explicit Seen(const Frame& f)
      : kind(f.kind),
        call(f.call),
        loose_names(f.loose_names),
        group(f.group),
        interface(f.interface),
        version(f.version),
        method(f.method),
        serializer(f.serializer),
        compressor(f.compressor),
        body(f.bytes()),
        remaining(f.remaining),
        headers(f.headers) {}

  /// "interface/method serializer body", then what is not usual: "?group:version", "+compressor", milliseconds,
  /// headers.
  std::string text() const {
    if (kind == FrameKind::goaway) return "goaway";
    if (kind != FrameKind::request) return "kind " + std::to_string(int(kind));
    std::string text = interface + "/" + method + " " + serializer + " " + body;
    if (!group.empty() || !version.empty()) text += " ?" + group + ":" + version;
    if (!compressor.empty()) text += " +" + compressor;
    if (remaining != Duration{0}) text += " " + std::to_string(remaining / 1ms) + "ms";
    for (const auto& [name, value] : headers.entries()) text += " " + name + "=" + value;
    return text;
  }
};

class Recorder : public FrameSink {
 public:
  void on_frame(Frame& frame) override { seen.emplace_back(frame); }
  std::vector<Seen> seen;
};

/// An answer, read without the plugin's code.
struct Answer {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;

  /// The value of a field; "(none)", or "(twice)".
  std::string field(std::string_view wanted) const {
    std::string found = "(none)";
    for (const auto& [name, value] : fields)
      if (::strcasecmp(name.c_str(), std::string(wanted).c_str()) == 0) found = found == "(none)" ? value : "(twice)";
    return found;
  }
  /// The error's code in the body, quoted; "" when there is none.
  std::string code() const {
    const std::string start = "{\"error\":{\"code\":\"";
    if (!body.starts_with(start)) return "";
    return body.substr(start.size(), body.find('"', start.size()) - start.size());
  }
};

/// Takes whole answers apart; `heads`: of these answers (by position) there is only the head. What is no answer becomes
/// one of status -1.
inline std::vector<Answer> answers(std::string_view text, const std::vector<std::size_t>& heads = {}) {
  std::vector<Answer> all;
  const auto wrong = [&](const std::string& why) {
    all.push_back({-1, {}, why});
    return all;
  };
  while (!text.empty()) {
    Answer answer;
    const std::size_t end = text.find("\r\n\r\n");
    if (end == std::string_view::npos) return wrong("no end of a head: " + std::string(text));
    std::string_view head = text.substr(0, end + 2);
    text.remove_prefix(end + 4);
    if (!head.starts_with("HTTP/1.1 ") || head.size() < 13 || head[12] != ' ') return wrong(std::string(head));
    answer.status = std::atoi(std::string(head.substr(9, 3)).c_str());
    head.remove_prefix(head.find("\r\n") + 2);
    while (!head.empty()) {
      const std::string_view line = head.substr(0, head.find("\r\n"));
      const std::size_t colon = line.find(": ");
      if (colon == std::string_view::npos) return wrong("no field: " + std::string(line));
      answer.fields.emplace_back(line.substr(0, colon), line.substr(colon + 2));
      head.remove_prefix(line.size() + 2);
    }
    const std::string length = answer.field("content-length");
    const bool none = answer.status == 204 || answer.status == 100;
    if (none != (length == "(none)")) return wrong("content-length " + length);
    if (!none && std::find(heads.begin(), heads.end(), all.size()) == heads.end()) {
      const std::size_t size = std::strtoull(length.c_str(), nullptr, 10);
      if (text.size() < size) return wrong("the body is cut off: " + std::string(text));
      answer.body = text.substr(0, size);
      text.remove_prefix(size);
    }
    all.push_back(std::move(answer));
  }
  return all;
}

inline std::shared_ptr<const Settings> settings(HttpOptions options = {}) {
  auto types = MediaTypes::create(options.content_types);
  return std::make_shared<const Settings>(Settings{std::move(options), std::move(*types)});
}

/// A server's session, its sink, and the unconsumed rest a connection would keep.
struct Peer {
  explicit Peer(const Limits& limits = {}, HttpOptions options = {}, std::vector<std::string> compressors = {"gzip"})
      : session(settings(std::move(options)), limits, compressors) {
  }

  /// Presents bytes as a connection does, at most `chunk` at a time. The first error ends it.
  Error feed(std::string_view bytes, std::size_t chunk = std::string_view::npos) {
    while (!bytes.empty()) {
      const std::string_view piece = bytes.substr(0, chunk);
      bytes.remove_prefix(piece.size());
      if (Error error = present(piece)) return error;
    }
    return {};
  }
  Error present(std::string_view piece) {
    while (!piece.empty()) {
      const Want want = rest.empty() ? session.want() : Want{};
      if (want.into) {
        const std::size_t n = std::min(want.size, piece.size());
        std::memcpy(want.into, piece.data(), n);
        piece.remove_prefix(n);
        direct += n;
        if (Result<void> taken = session.received_direct(n, sink); !taken.ok()) return taken.error();
        continue;
      }
      // A fresh block of exactly this size each time: sanitizers see every read past its end or its life.
      std::vector<char> block(rest.begin(), rest.end());
      block.insert(block.end(), piece.begin(), piece.end());
      Result<std::size_t> taken = session.received({block.data(), block.size()}, sink);
      if (!taken.ok()) return taken.error();
      rest.assign(block.data() + *taken, block.size() - *taken);
      most_kept = std::max(most_kept, rest.size());
      return {};
    }
    return {};
  }
  /// What there is to write now. Answers that are held back are not.
  std::string drain(std::size_t budget = 1u << 20) {
    std::string all;
    for (;;) {
      Gather gather;
      session.produce(gather, budget);
      if (gather.bytes() == 0) return all;
      for (const std::string_view part : gather.parts()) all += part;
      session.written(gather.bytes());
    }
  }
  std::vector<Answer> answers(const std::vector<std::size_t>& heads = {}) { return test::answers(drain(), heads); }
  /// The one answer there is to write.
  Answer answer() {
    const std::vector<Answer> all = answers();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? Answer{} : all[0];
  }
  std::vector<Seen> take() { return std::exchange(sink.seen, {}); }
  /// The frames since the last time, as text.
  std::vector<std::string> texts() {
    std::vector<std::string> all;
    for (const Seen& frame : take()) all.push_back(frame.text());
    return all;
  }
  Result<void> reply(std::uint32_t call, std::string_view body, Headers headers = {},
                     std::string_view compressor = {}) {
    Frame frame;
    frame.kind = FrameKind::response;
    frame.call = call;
    frame.body = body;
    frame.headers = std::move(headers);
    frame.compressor = compressor;
    return session.send(frame);
  }
  Result<void> fail(std::uint32_t call, Error error) {
    Frame frame;
    frame.kind = FrameKind::error;
    frame.call = call;
    frame.error = std::move(error);
    return session.send(frame);
  }

  HttpSession session;
  Recorder sink;
  std::string rest;
  std::size_t most_kept = 0;
  std::size_t direct = 0;  ///< bytes that came by received_direct()
};

/// "POST /demo.Greeter/SayHello" with a body and more lines, each with CRLF.
inline std::string post(std::string_view body = "{}", std::string_view fields = {},
                        std::string_view path = "/demo.Greeter/SayHello", std::string_view version = "1.1") {
  return "POST " + std::string(path) + " HTTP/" + std::string(version) + "\r\nHost: h\r\n" + std::string(fields) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}
/// Any head, with a Host.
inline std::string head(std::string_view line, std::string_view fields = {}) {
  return std::string(line) + "\r\nHost: h\r\n" + std::string(fields) + "\r\n";
}

}  // namespace tenon::http::test
