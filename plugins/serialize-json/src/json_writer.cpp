#include "json_writer.hpp"

#include <charconv>
#include <cmath>
#include <string>

#include "json_text.hpp"
#include "tenon/utf8.hpp"

namespace tenon::json {

namespace {
Error refused(std::string text) {
  return Error(Errc::invalid_argument, std::move(text), Delivery::not_run, Advice::never);
}

template <class Number>
std::string_view digits(Number value, std::array<char, 32>& room) {
  const auto end = std::to_chars(room.data(), room.data() + room.size(), value);
  return {room.data(), static_cast<std::size_t>(end.ptr - room.data())};
}
}  // namespace

bool JsonWriter::lead(bool& as_key) {
  as_key = false;
  if (failed()) return false;
  if (depth_ == 0) return true;
  Level& top = levels_[static_cast<std::size_t>(depth_ - 1)];
  switch (top.shape) {
    case Shape::array:
      if (top.count++ > 0) out_.push_back(',');
      break;
    case Shape::map:
      if (top.at_value) {
        out_.push_back(':');
      } else {
        as_key = true;
        if (top.count++ > 0) out_.push_back(',');
      }
      break;
    case Shape::object:
    case Shape::arguments:
    case Shape::bare: break;  // field() did it
  }
  return true;
}

// After a complete value: a map goes on from key to value and back.
void JsonWriter::trail() {
  if (depth_ == 0) return;
  Level& top = levels_[static_cast<std::size_t>(depth_ - 1)];
  if (top.shape == Shape::map) top.at_value = !top.at_value;
}

void JsonWriter::plain(std::string_view text) {
  bool as_key = false;
  if (!lead(as_key)) return;
  if (as_key) out_.push_back('"');
  out_.append(text);
  if (as_key) out_.push_back('"');
  trail();
}

void JsonWriter::quoted(std::string_view text) {
  bool as_key = false;
  if (!lead(as_key)) return;
  append_quoted(text, out_);
  trail();
}

void JsonWriter::null() { plain("null"); }
void JsonWriter::boolean(bool value) { plain(value ? "true" : "false"); }
void JsonWriter::integer(std::int64_t value, Kind) {
  std::array<char, 32> room;
  plain(digits(value, room));
}
void JsonWriter::unsigned_integer(std::uint64_t value, Kind) {
  std::array<char, 32> room;
  plain(digits(value, room));
}
void JsonWriter::floating(double value, Kind kind) {
  std::array<char, 32> room;
  if (std::isnan(value)) return quoted("NaN");
  if (std::isinf(value)) return quoted(value > 0 ? "Infinity" : "-Infinity");
  if (value == 0 && std::signbit(value)) return plain("-0.0");  // "-0" would be read as an integer
  plain(kind == Kind::f32 ? digits(static_cast<float>(value), room) : digits(value, room));
}
void JsonWriter::string(std::string_view value) {
  if (!is_utf8(value)) return fail(refused("a text is not UTF-8; declare the member as tenon::Bytes"));
  quoted(value);
}
void JsonWriter::bytes(std::string_view value) {
  bool as_key = false;
  if (!lead(as_key)) return;
  out_.push_back('"');
  append_base64(value, out_);
  out_.push_back('"');
  trail();
}
void JsonWriter::enumeration(std::int32_t value, const EnumType& type) {
  if (const Enumerator* known = type.find(value)) return quoted(known->name);
  integer(value, Kind::i32);
}
void JsonWriter::duration(std::chrono::nanoseconds value) { quoted(duration_text(value)); }

bool JsonWriter::begin(Shape shape, std::string_view opening) {
  bool as_key = false;
  if (!lead(as_key)) return false;
  if (as_key) {
    fail(refused("a list, map or message cannot be a map key in JSON"));
    return false;
  }
  if (shape != Shape::bare) ++nested_;
  if (nested_ > max_depth || depth_ == static_cast<int>(levels_.size())) {
    fail(refused("a value is nested deeper than 64 levels"));
    return false;
  }
  out_.append(opening);
  levels_[static_cast<std::size_t>(depth_++)] = Level{shape};
  return true;
}

void JsonWriter::end(char closing) {
  if (failed()) return;
  out_.push_back(closing);
  --depth_;
  --nested_;
  trail();
}

void JsonWriter::begin_list(std::size_t, const Type*) { begin(Shape::array, "["); }
void JsonWriter::begin_map(std::size_t, const Type*, const Type*) { begin(Shape::map, "{"); }

void JsonWriter::begin_message(const MessageType& type) {
  switch (type.form()) {
    case Form::message: begin(Shape::object, "{"); break;
    case Form::bare: begin(Shape::bare, ""); break;
    case Form::arguments:
      if (begin(Shape::arguments, "[")) levels_[static_cast<std::size_t>(depth_ - 1)].fields = type.fields().size();
      break;
  }
}

void JsonWriter::field(const Field& field) {
  if (failed()) return;
  Level& top = levels_[static_cast<std::size_t>(depth_ - 1)];
  if (top.shape == Shape::arguments) {  // absent optional arguments keep their place
    for (; top.count < field.index; ++top.count) out_.append(top.count > 0 ? ",null" : "null");
  }
  if (top.count++ > 0) out_.push_back(',');
  if (top.shape == Shape::object) {
    append_quoted(field.name, out_);
    out_.push_back(':');
  }
}

void JsonWriter::end_message() {
  if (failed()) return;
  Level& top = levels_[static_cast<std::size_t>(depth_ - 1)];
  switch (top.shape) {
    case Shape::arguments:
      for (; top.count < top.fields; ++top.count) out_.append(top.count > 0 ? ",null" : "null");
      return end(']');
    case Shape::bare:
      if (top.count == 0) out_.append("null");
      --depth_;
      return trail();
    default: return end('}');
  }
}

}  // namespace tenon::json
