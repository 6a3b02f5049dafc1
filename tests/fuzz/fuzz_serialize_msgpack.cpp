// Feeds bytes to the serializer "msgpack". The first byte says as what they are read, the rest is the body. Checked
// here: what is read can be written, is then read again, and is written the same; a refusal says why. The rest is the
// sanitizers' work.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "msgpack_serializer.hpp"
#include "tenon/describe.hpp"
#include "tenon/value.hpp"

namespace fuzzed {

enum class Color : std::int32_t { RED = 0, GREEN = 5, BLUE = -1 };
BOOST_DESCRIBE_ENUM(Color, RED, GREEN, BLUE)

struct Leaf {
  bool flag = false;
  std::int8_t i8 = 0;
  std::int16_t i16 = 0;
  std::uint8_t u8 = 0;
  std::uint16_t u16 = 0;
  std::uint32_t u32 = 0;
  std::uint64_t u64 = 0;
  float f = 0;
  double d = 0;
  tenon::Bytes raw;
  Color color = Color::RED;
  std::chrono::nanoseconds wait{0};
  tenon::ByteSize size;
};
BOOST_DESCRIBE_STRUCT(Leaf, (), (flag, i8, i16, u8, u16, u32, u64, f, d, raw, color, wait, size))

struct Node {
  std::string text;
  std::vector<Node> kids;
  std::vector<std::string> texts;
  std::map<std::string, std::string> names;
  std::map<std::int32_t, Leaf> leaves;
  std::vector<std::uint8_t> octets;
  std::vector<std::optional<Color>> colors;
  std::optional<std::vector<Leaf>> maybe;
  std::map<std::string, tenon::Value> any;
};
BOOST_DESCRIBE_STRUCT(Node, (), (text, kids, texts, names, leaves, octets, colors, maybe, any))

}  // namespace fuzzed

namespace {

const tenon::msgpack::MsgpackSerializer msgpack;

void require(bool holds) {
  if (!holds) std::abort();
}

template <class T>
void read_as(std::string_view bytes) {
  const tenon::MessageType& type = tenon::message_type<T>();
  T object{};
  const tenon::Result<void> read = msgpack.decode(bytes, type, &object);
  if (!read.ok()) {
    require(!read.error().text().empty() && read.error().code() == tenon::Errc::malformed);
    return;
  }
  tenon::OutBuffer first;
  require(msgpack.encode(type, &object, first).ok());
  T again{};
  require(msgpack.decode(first.view(), type, &again).ok());
  tenon::OutBuffer second;
  require(msgpack.encode(type, &again, second).ok());
  require(first.view() == second.view());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::vector<char> exact(data + 1, data + size);
  const std::string_view bytes(exact.data(), exact.size());
  switch (data[0] % 6) {
    case 0: read_as<tenon::Value>(bytes); break;
    case 1: read_as<fuzzed::Node>(bytes); break;
    case 2:
      read_as<tenon::Arguments<std::string, fuzzed::Leaf, std::optional<std::int64_t>, tenon::Value>>(bytes);
      break;
    case 3: read_as<tenon::Bare<std::vector<fuzzed::Node>>>(bytes); break;
    case 4: read_as<tenon::Bare<tenon::Arguments<std::vector<std::string>, std::vector<bool>>>>(bytes); break;
    default: read_as<tenon::Void>(bytes); break;
  }
  return 0;
}
