#include "samples.hpp"

#include <charconv>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tenon/value.hpp"

namespace tenon::motan2::test {
namespace {

template <class T>
T parse(const std::string& text, int base = 10) {
  T value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (fault != std::errc() || end != text.data() + text.size()) throw std::runtime_error("no number: " + text);
  return value;
}

std::string rest_of(std::istringstream& words) {
  std::string rest;
  std::getline(words, rest);
  return rest.empty() ? rest : rest.substr(1);
}

void read_line(const std::string& line, std::vector<Sample>& all) {
  std::istringstream words(line);
  std::string first;
  std::string second;
  words >> first;
  if (first == "meta") {
    words >> second;
    all.back().metadata.emplace_back(second, rest_of(words));
  } else if (first == "hex") {
    words >> second;
    for (std::size_t at = 0; at < second.size(); at += 2)
      all.back().bytes += static_cast<char>(parse<int>(second.substr(at, 2), 16));
  } else if (first == "value") {
    all.back().value = rest_of(words);
  } else if (first == "error") {
    std::string type;
    words >> second >> type;
    all.back().errcode = parse<std::int64_t>(second);
    all.back().errtype = parse<std::int64_t>(type);
    all.back().errmsg = rest_of(words);
  } else if (first == "head") {
    std::string status;
    std::string serializer;
    std::string id;
    words >> second >> status >> serializer >> id;
    all.back().type = parse<unsigned>(second, 16);
    all.back().status = parse<unsigned>(status);
    all.back().serializer = parse<unsigned>(serializer);
    all.back().id = parse<std::uint64_t>(id, 16);
  } else {
    words >> second;
    if (second != "request" && second != "reply") throw std::runtime_error("not understood: " + line);
    all.emplace_back();
    all.back().name = first;
    all.back().is_request = second == "request";
  }
}

std::string hex(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += digits[static_cast<unsigned char>(c) / 16];
    text += digits[static_cast<unsigned char>(c) % 16];
  }
  return text;
}

}  // namespace

std::string Sample::find(std::string_view key) const {
  for (const auto& [name, text] : metadata)
    if (name == key) return text;
  return {};
}

std::map<std::string, std::string> Sample::pairs(std::initializer_list<std::string_view> without) const {
  std::map<std::string, std::string> kept;
  for (const auto& [name, text] : metadata)
    if (std::find(without.begin(), without.end(), name) == without.end()) kept[name] = text;
  return kept;
}

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = [] {
    std::ifstream file(TENON_MOTAN2_SAMPLES);
    if (!file) throw std::runtime_error(std::string("cannot read ") + TENON_MOTAN2_SAMPLES);
    std::vector<Sample> read;
    for (std::string line; std::getline(file, line);)
      if (!line.empty() && line[0] != '#') read_line(line, read);
    return read;
  }();
  return all;
}

const Sample& sample(std::string_view name, bool request) {
  for (const Sample& one : samples())
    if (one.name == name && one.is_request == request) return one;
  throw std::runtime_error("no sample " + std::string(name));
}

std::string_view serializer_name(unsigned number) {
  switch (number) {
    case 0: return "hessian2";
    case 1: return "protobuf";
    case 5: return "motan-protobuf";
    case 6: return "simple";
    case 8: return "breeze";
    default: return "(unknown)";
  }
}

std::string describe(const Value& value) {
  if (value.is_null()) return "null";
  if (const std::string* text = value.string()) return "string " + *text;
  if (const std::string* bytes = value.bytes()) return "bytes " + hex(*bytes);
  if (const auto truth = value.boolean()) return *truth ? "boolean true" : "boolean false";
  std::string text;
  if (const Value::List* list = value.list()) {
    for (const Value& element : *list) text += (text.empty() ? "" : ", ") + describe(element);
    return "list [" + text + "]";
  }
  if (const Value::Map* map = value.map()) {
    for (const auto& [key, entry] : *map) text += (text.empty() ? "" : ", ") + describe(key) + ": " + describe(entry);
    return "map {" + text + "}";
  }
  switch (value.kind()) {
    case Kind::i8: text = "i8"; break;
    case Kind::i16: text = "i16"; break;
    case Kind::i32: text = "i32"; break;
    case Kind::i64: text = "i64"; break;
    case Kind::f32: text = "f32"; break;
    case Kind::f64: text = "f64"; break;
    default: text = "(another kind)"; break;
  }
  if (const auto number = value.integer()) return text + " " + std::to_string(*number);
  char digits[32];
  const auto [end, fault] = std::to_chars(digits, digits + sizeof digits, value.floating().value_or(0));
  return text + " " + (fault == std::errc() ? std::string(digits, end) : std::string("?"));
}

}  // namespace tenon::motan2::test
