#include "routing/json_reader.hpp"

#include <boost/json/serialize.hpp>

#include "traffic/words.hpp"

namespace tenon::cluster::routing {

namespace bj = boost::json;

namespace {

std::string_view view(const bj::string& text) noexcept { return {text.data(), text.size()}; }

std::string described(const bj::value& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  return value.is_string() ? traffic::quoted(view(value.get_string())) : std::string(bj::serialize(value));
}

}  // namespace

bool JsonReader::wrong(const std::string& why) {
  fail(Error(Errc::malformed, (path_.empty() ? "" : path_ + ": ") + why, Delivery::not_run));
  return false;
}

bool JsonReader::expect(std::string_view what) {
  return wrong("expected " + std::string(what) + ", found " + described(*next_));
}

Kind JsonReader::peek() {
  switch (next_->kind()) {
    case bj::kind::null: return Kind::null;
    case bj::kind::bool_: return Kind::boolean;
    case bj::kind::int64: return Kind::i64;
    case bj::kind::uint64: return Kind::u64;
    case bj::kind::double_: return Kind::f64;
    case bj::kind::string: return Kind::string;
    case bj::kind::array: return Kind::list;
    case bj::kind::object: break;
  }
  return Kind::map;
}

bool JsonReader::null() { return !failed() && next_->is_null(); }

bool JsonReader::boolean(bool& value) {
  if (failed()) return false;
  if (!next_->is_bool()) return expect("true or false");
  value = next_->get_bool();
  return true;
}

bool JsonReader::integer(std::int64_t& value, Kind) {
  if (failed()) return false;
  if (!next_->is_int64()) return expect("an integer");
  value = next_->get_int64();
  return true;
}

bool JsonReader::unsigned_integer(std::uint64_t& value, Kind) {
  if (failed()) return false;
  if (next_->is_uint64())
    value = next_->get_uint64();
  else if (next_->is_int64() && next_->get_int64() >= 0)
    value = static_cast<std::uint64_t>(next_->get_int64());
  else
    return expect("a number that is not negative");
  return true;
}

bool JsonReader::floating(double& value, Kind) {
  if (failed()) return false;
  if (!next_->is_number()) return expect("a number");
  value = next_->to_number<double>();
  return true;
}

bool JsonReader::string(std::string& value) {
  if (failed()) return false;
  if (next_->is_string())
    value = view(next_->get_string());
  else if (next_->is_bool() || next_->is_int64() || next_->is_uint64())
    value = bj::serialize(*next_);
  else
    return expect("a text");
  return true;
}

bool JsonReader::bytes(std::string&) { return failed() ? false : wrong("bytes cannot be written in this document"); }

bool JsonReader::enumeration(std::int32_t& value, const EnumType& type) {
  if (failed()) return false;
  const Enumerator* found = next_->is_string() ? type.find(view(next_->get_string())) : nullptr;
  if (found) {
    value = found->number;
    return true;
  }
  std::string names;
  for (const Enumerator& each : type.enumerators) names += (names.empty() ? "" : " or ") + std::string(each.name);
  return expect(names);
}

bool JsonReader::duration(std::chrono::nanoseconds&) {
  return failed() ? false : wrong("a time cannot be written in this document");
}

bool JsonReader::begin_list(const Type* element) {
  if (failed()) return false;
  const bool only = element && element->kind == Kind::string && !next_->is_structured() && !next_->is_null();
  if (!next_->is_array() && !only) return expect("a list");
  levels_.push_back({next_, 0, path_.size()});
  return true;
}

bool JsonReader::leave() {
  path_.resize(levels_.back().path);
  levels_.pop_back();
  return false;
}

bool JsonReader::next_element() {
  if (failed()) return false;
  Level& level = levels_.back();
  path_.resize(level.path);
  const bj::array* list = level.node->if_array();
  if (level.next == (list ? list->size() : 1)) return leave();
  next_ = list ? &(*list)[level.next] : level.node;
  if (list) path_ += '[' + std::to_string(level.next) + ']';
  ++level.next;
  if (next_->is_null()) return wrong("has no value; give it one or remove it");
  return true;
}

bool JsonReader::begin_map(const Type*, const Type*) {
  if (failed()) return false;
  if (!next_->is_object()) return expect("an object");
  levels_.push_back({next_, 0, path_.size()});
  return true;
}

bool JsonReader::next_entry() {
  if (failed()) return false;
  Level& level = levels_.back();
  if (level.next == level.node->get_object().size()) return leave();
  return true;
}

bool JsonReader::key(std::string& value) {
  if (failed()) return false;
  Level& level = levels_.back();
  const auto& entry = *(level.node->get_object().begin() + level.next++);
  value.assign(entry.key().data(), entry.key().size());
  path_.resize(level.path);
  path_ += (path_.empty() ? "" : ".") + value;
  next_ = &entry.value();
  return true;
}

bool JsonReader::begin_message(const MessageType&) {
  if (failed()) return false;
  if (!next_->is_object()) return expect("an object");
  levels_.push_back({next_, 0, path_.size()});
  return true;
}

const Field* JsonReader::next_field(const MessageType& type) {
  if (failed()) return nullptr;
  Level& level = levels_.back();
  const bj::object& members = level.node->get_object();
  for (; level.next < members.size(); ++level.next) {
    const auto& member = *(members.begin() + level.next);
    const std::string_view name(member.key().data(), member.key().size());
    path_.resize(level.path);
    const Field* field = type.find(name);
    if (!field) {
      std::string known;
      for (const Field& each : type.fields()) known += (known.empty() ? "" : ", ") + std::string(each.name);
      wrong("there is no field " + traffic::quoted(name) + "; there are " + known);
      return nullptr;
    }
    if (member.value().is_null()) continue;
    path_ += (path_.empty() ? "" : ".") + std::string(name);
    next_ = &member.value();
    ++level.next;
    return field;
  }
  leave();
  return nullptr;
}

}  // namespace tenon::cluster::routing
