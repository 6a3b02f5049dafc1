// Feeds bytes to a session of protocol-tenon. First byte: bit 0 server side, bit 1 the peer's preface is not supplied,
// bit 2 one byte at a time, bit 3 small limits, bit 4 the supplied preface is that of version 1.1; the rest is what the
// peer sends. Checked here: the sink sees only what its side may see, calls are answered once, streams keep their
// order, output can be drained; the rest is the sanitizers' work.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "session.hpp"

namespace {

using namespace tenon;        // NOLINT
using namespace tenon::wire;  // NOLINT

void require(bool holds) {
  if (!holds) std::abort();
}

void drain(Session& session) {
  while (session.unwritten() > 0) {
    Gather gather;
    session.produce(gather, 1000);
    require(gather.bytes() > 0 && gather.bytes() <= session.unwritten());
    session.written(gather.bytes());
  }
}

const std::string& large() {
  static const std::string bytes(100'000, 'L');
  return bytes;
}

// Answers every second request at once, some with streams, some largely; gives credit, gives up some streams; sends
// again on the client what may be sent again.
class Sink : public FrameSink {
 public:
  enum class State { asked, streaming };
  Sink(Session& session, Side side, const Target& target) : session_(session), side_(side), target_(target) {}

  void on_frame(Frame& frame) override {
    bytes_ += frame.bytes().size() + frame.method.size() + frame.headers.size() + frame.attachment.size();
    for (const char c : frame.attachment.bytes().substr(0, 10)) bytes_ += static_cast<unsigned char>(c);
    switch (frame.kind) {
      case FrameKind::request: request(frame); break;
      case FrameKind::response:
        require(side_ == Side::client && open.count(frame.call) == 1 && open[frame.call] == State::asked);
        if (frame.stream)
          open[frame.call] = State::streaming;
        else
          open.erase(frame.call);
        break;
      case FrameKind::error: {
        require(side_ == Side::client && open.count(frame.call) == 1 && open[frame.call] == State::asked);
        require(!frame.error.text().empty());
        open.erase(frame.call);
        if (!frame.resend) break;
        Frame again;
        again.target = &target_;
        again.call = frame.call;
        if (session_.send(again).ok()) open[again.call] = State::asked;
        break;
      }
      case FrameKind::message: {
        require(side_ == Side::client && open.count(frame.call) == 1 && open[frame.call] == State::streaming);
        Frame next;
        next.kind = frame.body.size() % 5 == 4 ? FrameKind::cancel : FrameKind::credit;
        next.call = frame.call;
        next.credit = static_cast<std::uint32_t>(stream_cost(frame.bytes().size(), frame.attachment.size()));
        require(session_.send(next).ok());
        break;
      }
      case FrameKind::end:
        require(side_ == Side::client && open.count(frame.call) == 1 && open[frame.call] == State::streaming);
        open.erase(frame.call);
        break;
      case FrameKind::credit:
        require(side_ == Side::server && open.count(frame.call) == 1 && frame.credit > 0);
        if (open[frame.call] == State::streaming) stream(frame.call, 2);
        break;
      case FrameKind::cancel: {
        require(side_ == Side::server && open.count(frame.call) == 1);
        if (open[frame.call] != State::streaming) break;
        Frame last;
        last.kind = FrameKind::end;
        last.call = frame.call;
        require(session_.send(last).ok());
        open.erase(frame.call);
        break;
      }
      default: break;
    }
  }
  std::map<std::uint32_t, State> open;

 private:
  void request(Frame& frame) {
    require(side_ == Side::server);
    if (frame.one_way) return;
    require(open.emplace(frame.call, State::asked).second);
    if (frame.call % 2) return;
    Frame reply;
    reply.kind = frame.call % 3 ? FrameKind::response : FrameKind::error;
    reply.call = frame.call;
    reply.body = frame.call % 5 == 1 ? std::string_view(large()) : frame.bytes().substr(0, 100);
    reply.headers = frame.headers;
    reply.attachment = frame.attachment;
    reply.stream = frame.stream;
    reply.error = Error(Errc::application, "refused");
    if (!session_.send(reply).ok()) return;
    if (reply.kind == FrameKind::response && reply.stream) {
      open[frame.call] = State::streaming;
      stream(frame.call, 3);
    } else {
      open.erase(frame.call);
    }
  }
  void stream(std::uint32_t call, int messages) {
    for (; messages > 0 && session_.credit(call) > 0; --messages) {
      Frame one;
      one.kind = FrameKind::message;
      one.call = call;
      one.body = messages == 2 ? std::string_view(large()) : "one";
      if (!session_.send(one).ok()) break;  // larger than the limits
    }
  }

  Session& session_;
  Side side_;
  const Target& target_;
  std::size_t bytes_ = 0;
};

void feed(Session& session, Sink& sink, std::string_view bytes, std::size_t chunk) {
  std::string rest;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, chunk);
    const Want want = rest.empty() ? session.want() : Want{};
    if (want.into) {
      require(want.size > 0);
      const std::size_t n = std::min(want.size, piece.size());
      std::memcpy(want.into, piece.data(), n);
      bytes.remove_prefix(n);
      if (!session.received_direct(n, sink).ok()) return;
      continue;
    }
    bytes.remove_prefix(piece.size());
    const std::vector<char> block = [&] {
      std::vector<char> all(rest.begin(), rest.end());
      all.insert(all.end(), piece.begin(), piece.end());
      return all;
    }();
    const Result<std::size_t> taken = session.received({block.data(), block.size()}, sink);
    if (!taken.ok()) {
      require(!taken.error().text().empty());
      return;
    }
    require(*taken <= block.size());
    rest.assign(block.data() + *taken, block.size() - *taken);
    require(rest.size() <= direct_size + 16);
  }
}

void greet(TenonSession& session, Sink& sink, bool old) {
  if (old) {
    constexpr std::string_view preface(
        "\x89TENON\r\n\x10\x01\x01\x00\x80\x80\x80\x02\x80\x80\x04\x80\x01\x80\x80\x04\x00", 25);
    require(session.received(preface, sink).ok());
    return;
  }
  TenonSession peer(Side::client, {});
  Gather gather;
  peer.produce(gather, 1000);
  require(session.received(gather.parts()[0], sink).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  static const ServiceName service{"demo.Greeter", "group", "1.0"};
  static const Method method{.name = "SayHello"};
  static const Target target{.service = &service, .method = &method};
  const Side side = data[0] & 1 ? Side::server : Side::client;
  Limits limits;
  if (data[0] & 8) {
    limits = {.max_frame = 40000, .max_headers = 64, .max_header_count = 3, .max_concurrent = 12, .stream_window = 500};
  }
  TenonSession session(side, limits);
  Sink sink(session, side, target);
  if ((data[0] & 2) == 0) greet(session, sink, (data[0] & 16) != 0);
  if (side == Side::client) {
    // Calls 4 and 5 ask for streams. 6 and 7 are large and leave in parts where the peer speaks them; 7 has not left
    // at all, or has not completely.
    for (std::uint32_t call = 0; call < 8; ++call) {
      Frame frame;
      frame.target = &target;
      frame.call = call;
      frame.serializer = "protobuf";
      if (call > 2) frame.headers = Headers{{"k", "v"}};
      frame.stream = call == 4 || call == 5;
      if (call > 5) frame.body = large();
      if (call == 7) drain(session);
      if (session.send(frame).ok()) sink.open[call] = Sink::State::asked;
    }
  }
  feed(session, sink, {reinterpret_cast<const char*>(data) + 1, size - 1}, data[0] & 4 ? 1 : std::string_view::npos);
  drain(session);
  session.close(Error(Errc::unavailable, "end"));
  drain(session);
  return 0;
}
