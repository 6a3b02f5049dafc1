#include "json_reader.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>

namespace tenon::json {

namespace bj = boost::json;

// "$.user.mails[2]": where the reader stands.
std::string JsonReader::path() const {
  std::string where = "$";
  for (int i = 0; i < depth_; ++i) {
    const Level& level = levels_[static_cast<std::size_t>(i)];
    if (level.index == 0) continue;
    if (level.array) where += '[' + std::to_string(level.index - 1) + ']';
    if (level.object) where += '.' + std::string((level.object->begin() + (level.index - 1))->key().substr(0, 64));
  }
  return where;
}

bool JsonReader::refuse(std::string what) {
  if (!failed()) fail(Error(Errc::malformed, "JSON: " + path() + ": " + what, Delivery::not_run));
  return false;
}

bool JsonReader::wrong(std::string_view wanted) {
  static constexpr std::string_view names[] = {"null",     "a boolean", "a number", "a number",
                                               "a number", "a string",  "an array", "an object"};
  const std::string_view found = at_key_ ? "a key" : next_ ? names[static_cast<int>(next_->kind())] : "nothing";
  return refuse(std::string(wanted) + " is wanted, not " + std::string(found));
}

// After a value: from a map entry's key to its value.
bool JsonReader::done() {
  next_ = nullptr;
  if (at_key_) {
    const Level& top = levels_[static_cast<std::size_t>(depth_ - 1)];
    next_ = &(top.object->begin() + (top.index - 1))->value();
    at_key_ = false;
  }
  return true;
}

// The next value when it is text: a string, or a map key.
bool JsonReader::text(std::string_view& value) {
  if (failed()) return false;
  if (at_key_) {
    const Level& top = levels_[static_cast<std::size_t>(depth_ - 1)];
    const bj::string_view key = (top.object->begin() + (top.index - 1))->key();
    value = {key.data(), key.size()};
    return true;
  }
  if (!next_ || !next_->is_string()) return false;
  value = {next_->get_string().data(), next_->get_string().size()};
  return true;
}

Kind JsonReader::peek() {
  if (failed()) return Kind::null;
  if (at_key_) return Kind::string;
  if (!next_) return Kind::null;
  switch (next_->kind()) {
    case bj::kind::null: return Kind::null;
    case bj::kind::bool_: return Kind::boolean;
    case bj::kind::int64: return Kind::i64;
    case bj::kind::uint64: return Kind::u64;
    case bj::kind::double_: return Kind::f64;
    case bj::kind::string: return Kind::string;
    case bj::kind::array: return Kind::list;
    case bj::kind::object: return Kind::map;
  }
  return Kind::null;
}

bool JsonReader::null() {
  if (failed() || at_key_ || !next_ || !next_->is_null()) return false;
  return done();
}

bool JsonReader::begin(Level level) {
  if (depth_ == static_cast<int>(levels_.size())) return refuse("nesting deeper than 64");
  levels_[static_cast<std::size_t>(depth_++)] = level;
  next_ = nullptr;
  return true;
}

bool JsonReader::begin_list(const Type*) {
  if (failed()) return false;
  if (at_key_ || !next_ || !next_->is_array()) return wrong("an array");
  return begin({.shape = Shape::array, .array = &next_->get_array()});
}

bool JsonReader::next_element() {
  if (failed()) return false;
  Level& top = levels_[static_cast<std::size_t>(depth_ - 1)];
  if (top.index < top.array->size()) {
    next_ = &(*top.array)[top.index++];
    return true;
  }
  end();
  done();
  return false;
}

bool JsonReader::begin_map(const Type*, const Type*) {
  if (failed()) return false;
  if (at_key_ || !next_ || !next_->is_object()) return wrong("an object");
  return begin({.shape = Shape::map, .object = &next_->get_object()});
}

bool JsonReader::next_entry() {
  if (failed()) return false;
  Level& top = levels_[static_cast<std::size_t>(depth_ - 1)];
  if (top.index < top.object->size()) {
    ++top.index;
    at_key_ = true;
    next_ = nullptr;
    return true;
  }
  end();
  done();
  return false;
}

bool JsonReader::begin_message(const MessageType& type) {
  if (failed()) return false;
  if (type.form() == Form::bare) {
    const bj::value* value = next_;
    if (!begin({.shape = Shape::bare})) return false;
    next_ = value;
    return true;
  }
  if (!at_key_ && next_ && type.form() == Form::arguments && next_->is_array()) {
    if (next_->get_array().size() > type.fields().size())
      return refuse(std::to_string(next_->get_array().size()) + " arguments for " +
                    std::to_string(type.fields().size()));
    return begin({.shape = Shape::arguments, .array = &next_->get_array()});
  }
  if (at_key_ || !next_ || !next_->is_object())
    return wrong(type.form() == Form::arguments ? "an array of arguments" : "an object");
  return begin({.shape = Shape::object, .object = &next_->get_object()});
}

const Field* JsonReader::next_field(const MessageType& type) {
  if (failed()) return nullptr;
  Level& top = levels_[static_cast<std::size_t>(depth_ - 1)];
  switch (top.shape) {
    case Shape::bare:
      if (top.index++ == 0) return &type.fields()[0];
      break;
    case Shape::arguments:
      if (top.index < top.array->size()) {
        next_ = &(*top.array)[top.index];
        return &type.fields()[top.index++];
      }
      break;
    default:
      while (top.index < top.object->size()) {
        const bj::key_value_pair& entry = *(top.object->begin() + top.index++);
        if (const Field* field = type.find(std::string_view(entry.key().data(), entry.key().size()))) {
          next_ = &entry.value();
          return field;
        }
      }
  }
  end();
  done();
  return nullptr;
}

}  // namespace tenon::json
