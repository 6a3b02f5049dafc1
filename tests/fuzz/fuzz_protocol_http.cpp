// Feeds bytes to a server's session of protocol-http. First byte: bit 0 one byte at a time, bit 1 small limits, bit 2
// time passes between the pieces, bit 3 answers come in reverse order at the end. The rest is what the peer sends.
// Checked here: the sink sees only requests and goaway, a call is answered once, what is kept of the input is
// bounded, the output can be drained and consists of whole answers, one for each request and in order.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "session.hpp"

namespace {

using namespace tenon;        // NOLINT
using namespace tenon::http;  // NOLINT

void require(bool holds) {
  if (!holds) std::abort();
}

// Answers a third of the requests at once, in its own words, a third with an error; the others wait for finish().
class Sink : public FrameSink {
 public:
  explicit Sink(Session& session) : session_(session) {}

  void on_frame(Frame& frame) override {
    require(!ended);
    if (frame.kind == FrameKind::goaway) {
      ended = true;
      return;
    }
    require(frame.kind == FrameKind::request && frame.loose_names && !frame.one_way);
    require(!frame.interface.empty() && !frame.method.empty() && !frame.serializer.empty());
    require(frame.remaining >= Duration{0});
    require(std::find(open.begin(), open.end(), frame.call) == open.end());
    ++requests;
    if (frame.call % 3 == 2)
      open.push_back(frame.call);
    else
      answer(frame.call, frame.bytes(), frame.headers);
  }
  void answer(std::uint32_t call, std::string_view body, const Headers& headers) {
    Frame reply;
    reply.kind = call % 3 ? FrameKind::response : FrameKind::error;
    reply.call = call;
    reply.body = body.substr(0, 100);
    reply.headers = headers;
    reply.error = Error(Errc::application, "refused " + std::string(body.substr(0, 50)));
    reply.error.attach(headers);
    const Result<void> sent = session_.send(reply);
    // Empty lines of one header make a value that ends with a space.
    if (!sent.ok()) {
      reply.headers = {};
      require(session_.send(reply).ok());
    }
    require(!session_.send(reply).ok());
  }
  std::vector<std::uint32_t> open;
  std::size_t requests = 0;
  bool ended = false;

 private:
  Session& session_;
};

std::string drain(Session& session) {
  std::string all;
  for (;;) {
    Gather gather;
    session.produce(gather, 1000);
    if (gather.bytes() == 0) return all;
    require(gather.bytes() <= session.unwritten());
    for (const std::string_view part : gather.parts()) all += part;
    session.written(gather.bytes());
  }
}

// How many final answers there are; each must be whole. HEAD is answered without the body it announces.
std::size_t count_answers(std::string_view all) {
  std::size_t count = 0;
  while (!all.empty()) {
    require(all.starts_with("HTTP/1.1 "));
    const std::size_t end = all.find("\r\n\r\n");
    require(end != std::string_view::npos);
    const std::string_view head = all.substr(0, end + 2);
    all.remove_prefix(end + 4);
    if (head.starts_with("HTTP/1.1 100 ")) continue;
    ++count;
    if (head.starts_with("HTTP/1.1 204 ")) continue;
    const std::size_t at = head.find("\r\nContent-Length: ");
    require(at != std::string_view::npos);
    const auto size = static_cast<std::size_t>(std::atoll(std::string(head.substr(at + 18, 20)).c_str()));
    // Errors are JSON.
    if (!head.starts_with("HTTP/1.1 200 ") && (all.empty() || all[0] == 'H')) continue;
    require(all.size() >= size);
    all.remove_prefix(size);
  }
  return count;
}

bool feed(Session& session, Sink& sink, std::string_view bytes, std::size_t chunk, bool clock) {
  std::string rest;
  TimePoint now{std::chrono::hours(1)};
  require(session.tick(now).ok());
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, chunk);
    const Want want = rest.empty() ? session.want() : Want{};
    if (want.into) {
      require(want.size > 0);
      const std::size_t n = std::min(want.size, piece.size());
      std::memcpy(want.into, piece.data(), n);
      bytes.remove_prefix(n);
      if (!session.received_direct(n, sink).ok()) return false;
      continue;
    }
    bytes.remove_prefix(piece.size());
    std::vector<char> block(rest.begin(), rest.end());
    block.insert(block.end(), piece.begin(), piece.end());
    const Result<std::size_t> taken = session.received({block.data(), block.size()}, sink);
    if (!taken.ok()) {
      require(!taken.error().text().empty());
      require(!session.received("G", sink).ok());
      return false;
    }
    require(*taken <= block.size());
    rest.assign(block.data() + *taken, block.size() - *taken);
    require(rest.size() <= RequestParser::max_chunk_line + 16);
    if (clock) {
      now += std::chrono::milliseconds(100);
      if (session.next_deadline() <= now && !session.tick(now).ok()) return false;
    }
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  static const auto settings = std::make_shared<const Settings>(Settings{{}, *MediaTypes::create({})});
  static const std::vector<std::string> compressors{"gzip"};
  Limits limits;
  if (data[0] & 2) limits = {.max_frame = 1000, .max_headers = 400, .max_header_count = 6, .max_concurrent = 3};
  HttpSession session(settings, limits, compressors);
  Sink sink(session);
  const bool alive = feed(session, sink, {reinterpret_cast<const char*>(data) + 1, size - 1},
                          data[0] & 1 ? 1 : std::string_view::npos, data[0] & 4);
  std::string output = drain(session);
  if (data[0] & 8) std::reverse(sink.open.begin(), sink.open.end());
  session.close(Error(Errc::unavailable, "end"));
  if (alive)
    for (const std::uint32_t call : sink.open) sink.answer(call, "late", {});
  output += drain(session);
  // A session fails only when nothing is being served.
  require(alive ? session.unwritten() == 0 : sink.open.empty());
  require(count_answers(output) >= sink.requests);
  return 0;
}
