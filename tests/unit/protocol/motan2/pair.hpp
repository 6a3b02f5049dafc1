#pragma once
// A client and a server session joined by strings, what they gave to their sinks, and a second, independent parser of
// what they write.

#include <algorithm>
#include <concepts>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "session.hpp"
#include "tenon/protocol.hpp"

namespace tenon::motan2::test {

using namespace std::chrono_literals;

/// A copy of a received frame.
struct Seen {
  FrameKind kind;
  bool one_way, owned, loose_names;
  std::uint32_t call;
  std::string group, interface, version, method, serializer, compressor, body;
  Duration remaining, took;
  Headers headers;
  Error error;

  explicit Seen(const Frame& f)
      : kind(f.kind),
        one_way(f.one_way),
        owned(!f.owned.empty()),
        loose_names(f.loose_names),
        call(f.call),
        group(f.group),
        interface(f.interface),
        version(f.version),
        method(f.method),
        serializer(f.serializer),
        compressor(f.compressor),
        body(f.bytes()),
        remaining(f.remaining),
        took(f.took),
        headers(f.headers),
        error(f.error) {}

  /// Everything but the way the body came (`owned`).
  std::string text() const {
    std::string text = std::to_string(int(kind)) + " call " + std::to_string(call) + (one_way ? " one_way" : "") + " " +
                       group + "/" + interface + ":" + version + "." + method + " " + serializer + "+" + compressor +
                       " " + std::to_string(remaining.count()) + " " + std::to_string(took.count()) + " [";
    for (const auto& [key, value] : headers.entries()) text += key + "=" + value + ";";
    text += "] body " + std::to_string(body.size()) + ":" + body;
    if (error) {
      text += " error " + std::string(to_string(error.code())) + " " + std::string(to_string(error.delivery())) + " " +
              std::to_string(int(error.advice())) + " " + error.domain() + " " + std::to_string(error.foreign_code()) +
              " " + error.text();
      if (error.headers())
        for (const auto& [key, value] : error.headers()->entries()) text += " " + key + "=" + value;
    }
    return text;
  }
};

inline std::vector<std::string> texts(const std::vector<Seen>& seen) {
  std::vector<std::string> all;
  for (const Seen& frame : seen) all.push_back(frame.text());
  return all;
}

class Recorder : public FrameSink {
 public:
  void on_frame(Frame& frame) override { seen.emplace_back(frame); }
  std::vector<Seen> seen;
};

/// Reads everything the session has to write, about `budget` bytes at a time.
inline std::string drain(Session& session, std::size_t budget = 1u << 20) {
  std::string all;
  while (session.unwritten() > 0) {
    Gather gather;
    session.produce(gather, budget);
    for (const std::string_view part : gather.parts()) all += part;
    session.written(gather.bytes());
  }
  return all;
}

inline std::shared_ptr<const Settings> settings(Motan2Options options = {}) {
  auto numbers = SerializerNumbers::create(options.serializers);
  return std::make_shared<const Settings>(Settings{std::move(options), std::move(*numbers)});
}

/// One side: a session, its sink, and the unconsumed rest a connection would keep.
struct Peer {
  explicit Peer(Side side, const Limits& limits = {}, Motan2Options options = {})
      : session(settings(std::move(options)), side, limits) {}

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
  std::string drain() { return test::drain(session); }
  std::vector<Seen> take() { return std::exchange(sink.seen, {}); }

  Motan2Session session;
  Recorder sink;
  std::string rest;
  std::size_t most_kept = 0;
  std::size_t direct = 0;  ///< bytes that came by received_direct()
};

/// Methods to call.
struct Methods {
  ServiceName service{"demo.Greeter", "yf-demo", "1.0"};
  Method say{.name = "hello"};
  Target hello{.service = &service, .method = &say};
};

inline Frame request(const Target& target, std::uint32_t call, std::string_view body = {}, Duration remaining = {}) {
  Frame frame;
  frame.kind = FrameKind::request;
  frame.target = &target;
  frame.call = call;
  frame.body = body;
  frame.remaining = remaining;
  frame.serializer = "simple";
  return frame;
}
inline Frame response(std::uint32_t call, std::string_view body = {}) {
  Frame frame;
  frame.kind = FrameKind::response;
  frame.call = call;
  frame.body = body;
  frame.serializer = "simple";
  return frame;
}
// The frame borrows the body.
template <std::same_as<std::string> Temporary>
Frame request(const Target& target, std::uint32_t call, Temporary&& body, Duration remaining = {}) = delete;
template <std::same_as<std::string> Temporary>
Frame response(std::uint32_t call, Temporary&& body) = delete;
inline Frame failure(std::uint32_t call, Error error) {
  Frame frame;
  frame.kind = FrameKind::error;
  frame.call = call;
  frame.error = std::move(error);
  return frame;
}
inline Frame plain(FrameKind kind, std::uint32_t call = 0) {
  Frame frame;
  frame.kind = kind;
  frame.call = call;
  return frame;
}

/// Both sides.
struct Pair : Methods {
  explicit Pair(const Limits& client_limits = {}, const Limits& server_limits = {})
      : client(Side::client, client_limits), server(Side::server, server_limits) {}
  Error to_server(std::size_t chunk = std::string_view::npos) { return server.feed(client.drain(), chunk); }
  Error to_client(std::size_t chunk = std::string_view::npos) { return client.feed(server.drain(), chunk); }

  Peer client;
  Peer server;
};

/// A frame as the tests read and write it; shares no code with the session.
struct Wire {
  unsigned type = 0, version = 1, status = 0, serializer = 6;
  std::uint64_t id = 0;
  std::string metadata;
  std::string body;

  static std::string big_endian(std::uint64_t value, int size) {
    std::string text;
    for (int at = size - 1; at >= 0; --at) text += static_cast<char>(value >> (8 * at));
    return text;
  }
  static std::uint64_t number(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char c : bytes) value = value * 256 + static_cast<unsigned char>(c);
    return value;
  }

  /// Everything before the body, which is announced with `size` bytes.
  std::string head(std::uint64_t size) const {
    return std::string("\xf1\xf1") + static_cast<char>(type) + static_cast<char>(version * 8 + status) +
           static_cast<char>(serializer * 8) + big_endian(id, 8) + big_endian(metadata.size(), 4) + metadata +
           big_endian(size, 4);
  }
  std::string bytes() const { return head(body.size()) + body; }

  /// The first frame of `bytes`, which is taken away; nothing when there is no whole one.
  static std::optional<Wire> take(std::string& bytes) {
    const std::string_view all = bytes;
    if (all.size() < 21 || all.substr(0, 2) != "\xf1\xf1") return std::nullopt;
    Wire wire;
    wire.type = static_cast<unsigned char>(all[2]);
    wire.version = static_cast<unsigned char>(all[3]) / 8;
    wire.status = static_cast<unsigned char>(all[3]) % 8;
    wire.serializer = static_cast<unsigned char>(all[4]) / 8;
    wire.id = number(all.substr(5, 8));
    const std::uint64_t metadata = number(all.substr(13, 4));
    if (all.size() < 21 + metadata) return std::nullopt;
    wire.metadata = all.substr(17, metadata);
    const std::uint64_t body = number(all.substr(17 + metadata, 4));
    if (all.size() < 21 + metadata + body) return std::nullopt;
    wire.body = all.substr(21 + metadata, body);
    bytes.erase(0, 21 + metadata + body);
    return wire;
  }
  static std::vector<Wire> all(std::string bytes) {
    std::vector<Wire> frames;
    while (auto frame = take(bytes)) frames.push_back(std::move(*frame));
    if (!bytes.empty()) frames.push_back({.metadata = "not a frame: " + bytes});
    return frames;
  }
  /// Key and value by line. A key that stands twice, or alone, shows as such.
  std::map<std::string, std::string> pairs() const {
    std::vector<std::string> lines(1);
    for (const char c : metadata)
      if (c == '\n')
        lines.emplace_back();
      else
        lines.back() += c;
    std::map<std::string, std::string> found;
    if (metadata.empty()) return found;
    for (std::size_t at = 0; at < lines.size(); at += 2) {
      if (at + 1 == lines.size())
        found["(unpaired)"] = lines[at];
      else if (!found.emplace(lines[at], lines[at + 1]).second)
        found["(twice)"] = lines[at];
    }
    return found;
  }
};

/// A request for demo.Greeter.hello.
inline Wire wire_request(std::uint64_t id, std::string body = "x") {
  return {.id = id, .metadata = "M_p\ndemo.Greeter\nM_m\nhello", .body = std::move(body)};
}
inline Wire wire_reply(std::uint64_t id, std::string body = "x") {
  return {.type = 1, .id = id, .metadata = "M_pt\n0", .body = std::move(body)};
}

}  // namespace tenon::motan2::test
