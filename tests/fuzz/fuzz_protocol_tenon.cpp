// Feeds bytes to a session of protocol-tenon. First byte: bit 0 server side, bit 1 the peer's preface is not supplied,
// bit 2 one byte at a time, bit 3 small limits; the rest is what the peer sends. Checked here: the sink sees only what
// its side may see, calls are answered once, output can be drained; the rest is the sanitizers' work.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
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

// Answers every second request at once, echoes on the client what may be sent again.
class Sink : public FrameSink {
 public:
  Sink(Session& session, Side side, const Target& target) : session_(session), side_(side), target_(target) {}

  void on_frame(Frame& frame) override {
    bytes_ += frame.bytes().size() + frame.method.size() + frame.headers.size();
    switch (frame.kind) {
      case FrameKind::request: {
        require(side_ == Side::server);
        if (frame.one_way) break;
        require(open.insert(frame.call).second);
        if (frame.call % 2) break;
        Frame reply;
        reply.kind = frame.call % 3 ? FrameKind::response : FrameKind::error;
        reply.call = frame.call;
        reply.body = frame.bytes().substr(0, 100);
        reply.headers = frame.headers;
        reply.error = Error(Errc::application, "refused");
        if (session_.send(reply).ok()) open.erase(frame.call);
        break;
      }
      case FrameKind::response:
      case FrameKind::error: {
        require(side_ == Side::client);
        require(open.erase(frame.call) == 1);
        if (frame.kind == FrameKind::error) require(!frame.error.text().empty());
        if (!frame.resend) break;
        Frame again;
        again.target = &target_;
        again.call = frame.call;
        if (session_.send(again).ok()) open.insert(frame.call);
        break;
      }
      case FrameKind::cancel: require(side_ == Side::server && open.count(frame.call) == 1); break;
      default: break;
    }
  }
  std::set<std::uint32_t> open;

 private:
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  static const ServiceName service{"demo.Greeter", "group", "1.0"};
  static const Method method{.name = "SayHello"};
  static const Target target{.service = &service, .method = &method};
  const Side side = data[0] & 1 ? Side::server : Side::client;
  Limits limits;
  if (data[0] & 8) limits = {.max_frame = 40000, .max_headers = 64, .max_header_count = 3, .max_concurrent = 4};
  TenonSession session(side, limits);
  Sink sink(session, side, target);
  if ((data[0] & 2) == 0) {
    TenonSession peer(Side::client, {});
    Gather gather;
    peer.produce(gather, 1000);
    require(session.received(gather.parts()[0], sink).ok());
  }
  if (side == Side::client) {
    for (std::uint32_t call = 0; call < 6; ++call) {
      Frame frame;
      frame.target = &target;
      frame.call = call;
      frame.serializer = "protobuf";
      if (call > 2) frame.headers = Headers{{"k", "v"}};
      if (session.send(frame).ok()) sink.open.insert(call);
    }
  }
  feed(session, sink, {reinterpret_cast<const char*>(data) + 1, size - 1}, data[0] & 4 ? 1 : std::string_view::npos);
  drain(session);
  session.close(Error(Errc::unavailable, "end"));
  drain(session);
  return 0;
}
