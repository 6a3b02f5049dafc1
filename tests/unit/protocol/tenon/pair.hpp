#pragma once
// A client and a server session joined by strings, and what they gave to their sinks.

#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "session.hpp"
#include "tenon/protocol.hpp"

namespace tenon::wire::test {

using namespace std::chrono_literals;

/// A copy of a received frame.
struct Seen {
  FrameKind kind;
  bool one_way, resend, owned, stream;
  std::uint32_t call, token, credit;
  std::string group, interface, version, method, serializer, compressor, body, attachment;
  Duration remaining;
  Headers headers;
  Error error;

  explicit Seen(const Frame& f)
      : kind(f.kind),
        one_way(f.one_way),
        resend(f.resend),
        owned(!f.owned.empty()),
        stream(f.stream),
        call(f.call),
        token(f.token),
        credit(f.credit),
        group(f.group),
        interface(f.interface),
        version(f.version),
        method(f.method),
        serializer(f.serializer),
        compressor(f.compressor),
        body(f.bytes()),
        attachment(f.attachment.bytes()),
        remaining(f.remaining),
        headers(f.headers),
        error(f.error) {}

  /// Everything but the way the body came (`owned`).
  std::string text() const {
    std::string text = std::to_string(int(kind)) + " call " + std::to_string(call) + (one_way ? " one_way" : "") +
                       (resend ? " resend" : "") + (stream ? " stream" : "") +
                       (credit ? " credit " + std::to_string(credit) : "") + " token " + std::to_string(token) + " " +
                       group + "/" + interface + ":" + version + "." + method + " " + serializer + "+" + compressor +
                       " " + std::to_string(remaining.count()) + " [";
    for (const auto& [key, value] : headers.entries()) text += key + "=" + value + ";";
    text += "] body " + std::to_string(body.size()) + ":" + body;
    if (!attachment.empty()) text += " attachment " + std::to_string(attachment.size()) + ":" + attachment;
    if (error) {
      text += " error " + std::string(to_string(error.code())) + " " + std::string(to_string(error.delivery())) + " " +
              std::to_string(int(error.advice())) + " " + std::to_string(error.retry_after().count()) + " " +
              error.domain() + " " + std::to_string(error.foreign_code()) + " " + error.text();
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

/// Reads everything the session has to write.
inline std::string drain(Session& session) {
  std::string all;
  while (session.unwritten() > 0) {
    Gather gather;
    session.produce(gather, 1u << 20);
    for (const std::string_view part : gather.parts()) all += part;
    session.written(gather.bytes());
  }
  return all;
}

/// One side: a session, its sink, and the unconsumed rest a connection would keep.
struct Peer {
  explicit Peer(Side side, const Limits& limits = {}) : session(side, limits) {}

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

  TenonSession session;
  Recorder sink;
  std::string rest;
  std::size_t most_kept = 0;
};

/// Methods to call.
struct Methods {
  ServiceName service{"demo.Greeter", "yf-demo", "1.0"};
  Method say{.name = "SayHello"};
  Method bye{.name = "SayBye"};
  Target hello{.service = &service, .method = &say};
  Target goodbye{.service = &service, .method = &bye, .index = 1};
};

inline Frame request(const Target& target, std::uint32_t call, std::string_view body, Duration remaining = 1s) {
  Frame frame;
  frame.kind = FrameKind::request;
  frame.target = &target;
  frame.call = call;
  frame.body = body;
  frame.remaining = remaining;
  frame.serializer = "protobuf";
  return frame;
}
inline Frame response(std::uint32_t call, std::string_view body) {
  Frame frame;
  frame.kind = FrameKind::response;
  frame.call = call;
  frame.body = body;
  frame.serializer = "protobuf";
  return frame;
}
// The frame borrows the body.
template <std::same_as<std::string> Temporary>
Frame request(const Target& target, std::uint32_t call, Temporary&& body, Duration remaining = 1s) = delete;
template <std::same_as<std::string> Temporary>
Frame response(std::uint32_t call, Temporary&& body) = delete;
inline Frame message(std::uint32_t call, std::string_view body) {
  Frame frame = response(call, body);
  frame.kind = FrameKind::message;
  return frame;
}
template <std::same_as<std::string> Temporary>
Frame message(std::uint32_t call, Temporary&& body) = delete;
inline Frame head(std::uint32_t call) {
  Frame frame = response(call, "");
  frame.stream = true;
  return frame;
}
inline Frame credit(std::uint32_t call, std::uint32_t bytes) {
  Frame frame;
  frame.kind = FrameKind::credit;
  frame.call = call;
  frame.credit = bytes;
  return frame;
}
inline Frame end(std::uint32_t call, Error error = {}) {
  Frame frame;
  frame.kind = FrameKind::end;
  frame.call = call;
  frame.error = std::move(error);
  return frame;
}
inline Attachment attached(std::string_view bytes) { return Attachment(std::string(bytes)); }
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

/// Both sides with their prefaces exchanged.
struct Pair : Methods {
  explicit Pair(const Limits& client_limits = {}, const Limits& server_limits = {})
      : client(Side::client, client_limits), server(Side::server, server_limits) {
    server.feed(client.drain());
    client.feed(server.drain());
  }
  Error to_server(std::size_t chunk = std::string_view::npos) { return server.feed(client.drain(), chunk); }
  Error to_client(std::size_t chunk = std::string_view::npos) { return client.feed(server.drain(), chunk); }
  /// A stream whose head has come.
  void open_stream(std::uint32_t call) {
    Frame asked = request(hello, call, "ask");
    asked.stream = true;
    EXPECT_TRUE(client.session.send(asked).ok());
    EXPECT_FALSE(to_server());
    Frame first = head(call);
    EXPECT_TRUE(server.session.send(first).ok());
    EXPECT_FALSE(to_client());
    client.take();
    server.take();
  }

  Peer client;
  Peer server;
};

/// A frame from its fields: their length and they.
inline std::string framed(std::string_view fields) {
  char prefix[max_varint];
  char* const end = put_varint(prefix, fields.size());
  return std::string(prefix, end).append(fields);
}
inline std::string varint(std::uint64_t value) {
  char bytes[max_varint];
  return std::string(bytes, put_varint(bytes, value));
}
/// A frame as it stands in the bytes.
struct WireFrame {
  std::uint8_t type = 0;
  std::uint64_t call = 0;  ///< the first integer behind the type
  std::string_view all;    ///< with its length
  bool is(Kind kind) const noexcept { return (type & kind_mask) == static_cast<int>(kind); }
  bool first_part() const noexcept { return type == (static_cast<int>(Kind::fragment) | flag_first); }
  bool later_part() const noexcept { return type == static_cast<int>(Kind::fragment); }
};
inline std::vector<WireFrame> frames_of(std::string_view bytes) {
  std::vector<WireFrame> frames;
  while (!bytes.empty()) {
    std::uint64_t length = 0;
    const char* at = bytes.data();
    const char* const end = at + bytes.size();
    if (get_varint(at, end, length) != Scan::ok || length > static_cast<std::size_t>(end - at)) {
      ADD_FAILURE() << "not a row of frames";
      break;
    }
    WireFrame frame;
    frame.type = static_cast<std::uint8_t>(*at);
    frame.all = bytes.substr(0, static_cast<std::size_t>(at - bytes.data()) + length);
    const char* call = at + 1;
    (void)get_varint(call, at + length, frame.call);
    frames.push_back(frame);
    bytes.remove_prefix(frame.all.size());
  }
  return frames;
}
inline std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

}  // namespace tenon::wire::test
