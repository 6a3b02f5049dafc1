// Feeds bytes to a session of protocol-motan2. First byte: bit 0 server side, bit 2 one byte at a time, bit 3 small
// limits, bit 4 a peer whose heartbeats are Go's; the rest is what the peer sends, a client's session having asked six
// calls with the ids 1:0 … 1:5 and two heartbeats. Checked here: the sink sees only what its side may see, a call is
// answered at most once, what is kept of the input is bounded, the output can be drained and is made of whole frames.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "session.hpp"

namespace {

using namespace tenon;          // NOLINT
using namespace tenon::motan2;  // NOLINT

void require(bool holds) {
  if (!holds) std::abort();
}

// Everything there is to write, as a peer would cut it into frames.
void drain(Session& session, Side side) {
  std::string all;
  while (session.unwritten() > 0) {
    Gather gather;
    session.produce(gather, 1000);
    require(gather.bytes() > 0 && gather.bytes() <= session.unwritten());
    for (const std::string_view part : gather.parts()) all += part;
    session.written(gather.bytes());
  }
  std::string_view rest = all;
  while (!rest.empty()) {
    require(rest.size() >= empty_frame && rest.starts_with(magic));
    const Head head = load_head(rest.data());
    require(head.version == version && ((head.type & bit_response) != 0) == (side == Side::server));
    require(rest.size() >= empty_frame + head.metadata);
    const std::size_t body = load32(rest.data() + fixed_size + head.metadata);
    require(rest.size() >= empty_frame + head.metadata + body);
    rest.remove_prefix(empty_frame + head.metadata + body);
  }
}

// Answers two of three requests at once, with what they brought.
class Sink : public FrameSink {
 public:
  Sink(Session& session, Side side) : session_(session), side_(side) {}

  void on_frame(Frame& frame) override {
    switch (frame.kind) {
      case FrameKind::request: {
        require(side_ == Side::server && frame.loose_names && !frame.one_way);
        require(frame.remaining >= Duration{0} && !frame.serializer.empty());
        require(open.insert(frame.call).second);
        if (frame.call % 3 == 2) break;
        Frame reply;
        reply.kind = frame.call % 3 ? FrameKind::response : FrameKind::error;
        reply.call = frame.call;
        reply.serializer = frame.serializer.starts_with("serializer ") ? "" : frame.serializer;
        reply.compressor = frame.compressor;
        reply.body = frame.bytes().substr(0, 100);
        reply.headers = frame.headers;
        reply.error = Error(Errc::application, std::string(frame.method.substr(0, 50)) + " refused");
        reply.error.attach(frame.headers);
        require(session_.send(reply).ok());  // what came in can go out
        open.erase(frame.call);
        require(!session_.send(reply).ok());
        break;
      }
      case FrameKind::response:
      case FrameKind::error:
        require(side_ == Side::client);
        require(open.erase(frame.call) == 1);
        require(frame.took >= Duration{0});
        if (frame.kind == FrameKind::error) require(!frame.error.text().empty());
        break;
      case FrameKind::ping: require(side_ == Side::server); break;
      case FrameKind::pong: require(side_ == Side::client); break;
      default: require(false);
    }
  }
  std::set<std::uint32_t> open;

 private:
  Session& session_;
  Side side_;
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
    std::vector<char> block(rest.begin(), rest.end());
    block.insert(block.end(), piece.begin(), piece.end());
    const Result<std::size_t> taken = session.received({block.data(), block.size()}, sink);
    if (!taken.ok()) {
      require(!taken.error().text().empty());
      require(!session.received("\xf1", sink).ok());
      return;
    }
    require(*taken <= block.size());
    rest.assign(block.data() + *taken, block.size() - *taken);
    require(rest.size() <= 2 * SessionOutput::block_from);  // a head and a body below it each
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  static const ServiceName service{"demo.Greeter", "group", "1.0"};
  static const Method method{.name = "hello"};
  static const Target target{.service = &service, .method = &method};
  static const auto settings = std::make_shared<const Settings>(Settings{{}, *SerializerNumbers::create({})});
  static const auto go = std::make_shared<const Settings>(
      Settings{{.application = "app", .heartbeat = HeartbeatStyle::go}, *SerializerNumbers::create({})});
  const Side side = data[0] & 1 ? Side::server : Side::client;
  Limits limits;
  if (data[0] & 8) limits = {.max_frame = 40000, .max_headers = 400, .max_header_count = 3, .max_concurrent = 4};
  Motan2Session session(data[0] & 16 ? go : settings, side, limits);
  Sink sink(session, side);
  if (side == Side::client) {
    for (std::uint32_t call = 0; call < 6; ++call) {
      Frame frame;
      frame.target = &target;
      frame.call = call;
      frame.serializer = "simple";
      frame.one_way = call == 5;
      if (call > 2) frame.headers = Headers{{"k", "v"}};
      require(session.send(frame).ok());
      if (!frame.one_way) sink.open.insert(call);
    }
    for (int count = 0; count < 2; ++count) {
      Frame ping;
      ping.kind = FrameKind::ping;
      require(session.send(ping).ok());
    }
  }
  feed(session, sink, {reinterpret_cast<const char*>(data) + 1, size - 1}, data[0] & 4 ? 1 : std::string_view::npos);
  drain(session, side);
  session.close(Error(Errc::unavailable, "end"));
  require(session.unwritten() == 0);
  return 0;
}
