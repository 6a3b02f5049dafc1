#include "tenon/value.hpp"

#include <array>
#include <limits>

namespace tenon {

namespace {
constexpr int max_depth = 64;

Error too_deep() { return Error(Errc::invalid_argument, "a value is nested deeper than 64 levels", Delivery::not_run); }
}  // namespace

Value Value::of_list(List elements) {
  Value value;
  value.content_ = std::move(elements);
  value.kind_ = Kind::list;
  return value;
}
Value Value::of_map(Map entries) {
  Value value;
  value.content_ = std::move(entries);
  value.kind_ = Kind::map;
  return value;
}

Value::Value(Value&& other) noexcept
    : content_(std::exchange(other.content_, {})), kind_(std::exchange(other.kind_, Kind::null)) {}

Value& Value::operator=(Value&& other) noexcept {
  if (this != &other) {
    Value old;  // destroyed by ~Value, which does not recurse
    std::swap(old.content_, content_);
    content_ = std::exchange(other.content_, {});
    kind_ = std::exchange(other.kind_, Kind::null);
  }
  return *this;
}

// Moves containers below this value out to `pending`, so that nothing nested is left when content_ is destroyed.
void Value::take_children(List& pending) noexcept {
  const auto take = [&pending](Value& child) {
    if (child.size() > 0) pending.push_back(std::move(child));
  };
  if (List* children = list())
    for (Value& child : *children) take(child);
  if (Map* entries = map())
    for (Entry& entry : *entries) {
      take(entry.first);
      take(entry.second);
    }
}

Value::~Value() {
  if (size() == 0) return;
  List pending;
  take_children(pending);
  while (!pending.empty()) {
    Value next = std::move(pending.back());
    pending.pop_back();
    next.take_children(pending);
  }
}

std::optional<bool> Value::boolean() const noexcept {
  if (const bool* value = std::get_if<bool>(&content_)) return *value;
  return std::nullopt;
}
std::optional<std::int64_t> Value::integer() const noexcept {
  if (kind_ >= Kind::i8 && kind_ <= Kind::i64) return std::get<std::int64_t>(content_);
  if (kind_ == Kind::size || is_integer()) {
    const std::uint64_t value = std::get<std::uint64_t>(content_);
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return static_cast<std::int64_t>(value);
  }
  return std::nullopt;
}
std::optional<std::uint64_t> Value::unsigned_integer() const noexcept {
  if (const std::uint64_t* value = std::get_if<std::uint64_t>(&content_)) return *value;
  if (is_integer() && std::get<std::int64_t>(content_) >= 0)
    return static_cast<std::uint64_t>(std::get<std::int64_t>(content_));
  return std::nullopt;
}
std::optional<double> Value::floating() const noexcept {
  if (const double* value = std::get_if<double>(&content_)) return *value;
  if (kind_ >= Kind::i8 && kind_ <= Kind::i64) return static_cast<double>(std::get<std::int64_t>(content_));
  if (is_integer()) return static_cast<double>(std::get<std::uint64_t>(content_));
  return std::nullopt;
}
std::optional<std::chrono::nanoseconds> Value::duration() const noexcept {
  if (kind_ == Kind::duration) return std::chrono::nanoseconds(std::get<std::int64_t>(content_));
  return std::nullopt;
}
const std::string* Value::string() const noexcept {
  return kind_ == Kind::string ? std::get_if<std::string>(&content_) : nullptr;
}
const std::string* Value::bytes() const noexcept {
  return kind_ == Kind::bytes ? std::get_if<std::string>(&content_) : nullptr;
}

std::size_t Value::size() const noexcept {
  if (const List* elements = list()) return elements->size();
  if (const Map* entries = map()) return entries->size();
  return 0;
}

const Value* Value::find(std::string_view key) const noexcept {
  if (const Map* entries = map())
    for (const Entry& entry : *entries)
      if (const std::string* text = entry.first.string(); text && *text == key) return &entry.second;
  return nullptr;
}
const Value* Value::find_key(const Value& key) const noexcept {
  if (const Map* entries = map())
    for (const Entry& entry : *entries)
      if (entry.first == key) return &entry.second;
  return nullptr;
}
Value& Value::operator[](std::string_view key) {
  if (is_null()) *this = of_map();
  Map& entries = std::get<Map>(content_);
  for (Entry& entry : entries)
    if (const std::string* text = entry.first.string(); text && *text == key) return entry.second;
  return entries.emplace_back(Value(key), Value()).second;
}
Value& Value::push_back(Value element) {
  if (is_null()) *this = of_list();
  return std::get<List>(content_).emplace_back(std::move(element));
}

bool Value::operator==(const Value& other) const noexcept { return kind_ == other.kind_ && content_ == other.content_; }

void Value::write(Writer& writer) const {
  if (writer.failed()) return;
  switch (kind_) {
    case Kind::boolean: writer.boolean(std::get<bool>(content_)); return;
    case Kind::i8:
    case Kind::i16:
    case Kind::i32:
    case Kind::i64: writer.integer(std::get<std::int64_t>(content_), kind_); return;
    case Kind::u8:
    case Kind::u16:
    case Kind::u32:
    case Kind::u64:
    case Kind::size: writer.unsigned_integer(std::get<std::uint64_t>(content_), kind_); return;
    case Kind::f32:
    case Kind::f64: writer.floating(std::get<double>(content_), kind_); return;
    case Kind::string: writer.string(std::get<std::string>(content_)); return;
    case Kind::bytes: writer.bytes(std::get<std::string>(content_)); return;
    case Kind::duration: writer.duration(std::chrono::nanoseconds(std::get<std::int64_t>(content_))); return;
    case Kind::list: {
      writer.begin_list(size(), nullptr);
      for (const Value& element : *list()) {
        if (writer.failed()) return;
        element.write(writer);
      }
      writer.end_list();
      return;
    }
    case Kind::map: {
      writer.begin_map(size(), nullptr, nullptr);
      for (const Entry& entry : *map()) {
        if (writer.failed()) return;
        entry.first.write(writer);
        entry.second.write(writer);
      }
      writer.end_map();
      return;
    }
    default: writer.null(); return;
  }
}

bool Value::read(Reader& reader) {
  const auto keep = [this](auto value, Kind kind) {
    content_ = std::move(value);
    kind_ = kind;
    return true;
  };
  *this = Value();
  if (reader.null()) return true;
  const Kind kind = reader.peek();
  switch (kind) {
    case Kind::null: return !reader.failed();
    case Kind::boolean: {
      bool value = false;
      return reader.boolean(value) && keep(value, kind);
    }
    case Kind::i8:
    case Kind::i16:
    case Kind::i32:
    case Kind::i64: {
      std::int64_t value = 0;
      return reader.integer(value, kind) && keep(value, kind);
    }
    case Kind::u8:
    case Kind::u16:
    case Kind::u32:
    case Kind::u64:
    case Kind::size: {
      std::uint64_t value = 0;
      return reader.unsigned_integer(value, kind) && keep(value, kind);
    }
    case Kind::f32:
    case Kind::f64: {
      double value = 0;
      return reader.floating(value, kind) && keep(value, kind);
    }
    case Kind::string: {
      std::string value;
      return reader.string(value) && keep(std::move(value), kind);
    }
    case Kind::bytes: {
      std::string value;
      return reader.bytes(value) && keep(std::move(value), kind);
    }
    case Kind::enumeration: {
      std::int64_t value = 0;
      return reader.integer(value, Kind::i32) && keep(value, Kind::i32);
    }
    case Kind::duration: {
      std::chrono::nanoseconds value{0};
      return reader.duration(value) && keep(std::int64_t{value.count()}, kind);
    }
    case Kind::list: {
      if (!reader.begin_list(nullptr)) return false;
      *this = of_list();
      List& elements = std::get<List>(content_);
      while (reader.next_element())
        if (!elements.emplace_back().read(reader)) return false;
      return !reader.failed();
    }
    case Kind::map: {
      if (!reader.begin_map(nullptr, nullptr)) return false;
      *this = of_map();
      Map& entries = std::get<Map>(content_);
      while (reader.next_entry()) {
        Entry& entry = entries.emplace_back();
        const Kind key_kind = reader.peek();
        if (key_kind == Kind::string || key_kind == Kind::value || key_kind == Kind::null) {
          std::string key;
          if (!reader.key(key)) return false;
          entry.first = Value(std::move(key));
        } else if (!entry.first.read(reader)) {
          return false;
        }
        if (!entry.second.read(reader)) return false;
      }
      return !reader.failed();
    }
    default:
      reader.fail(Error(Errc::invalid_argument,
                        "a dynamic value cannot be read here: the format does not show of "
                        "which kind it is"));
      return false;
  }
}

namespace {

// Builds a Value from what an object shows of itself.
class ValueWriter final : public Writer {
 public:
  Value& result() { return root_; }
  void null() override { put(Value()); }
  void boolean(bool value) override { put(Value(value)); }
  void integer(std::int64_t value, Kind kind) override {
    switch (kind) {
      case Kind::i8: return put(Value(static_cast<std::int8_t>(value)));
      case Kind::i16: return put(Value(static_cast<std::int16_t>(value)));
      case Kind::i32: return put(Value(static_cast<std::int32_t>(value)));
      default: return put(Value(value));
    }
  }
  void unsigned_integer(std::uint64_t value, Kind kind) override {
    switch (kind) {
      case Kind::u8: return put(Value(static_cast<std::uint8_t>(value)));
      case Kind::u16: return put(Value(static_cast<std::uint16_t>(value)));
      case Kind::u32: return put(Value(static_cast<std::uint32_t>(value)));
      case Kind::size: return put(Value(ByteSize(value)));
      default: return put(Value(value));
    }
  }
  void floating(double value, Kind kind) override {
    put(kind == Kind::f32 ? Value(static_cast<float>(value)) : Value(value));
  }
  void string(std::string_view value) override { put(Value(value)); }
  void bytes(std::string_view value) override { put(Value(Bytes{std::string(value)})); }
  void enumeration(std::int32_t value, const EnumType&) override { put(Value(value)); }
  void duration(std::chrono::nanoseconds value) override { put(Value(value)); }
  void begin_list(std::size_t, const Type*) override { open(Value::of_list(), Form::message); }
  void end_list() override { close(); }
  void begin_map(std::size_t, const Type*, const Type*) override { open(Value::of_map(), Form::message); }
  void end_map() override { close(); }
  void begin_message(const MessageType& type) override {
    if (type.form() == Form::bare) {
      open(Value(), Form::bare);
    } else {
      open(Value::of_map(), Form::message);
    }
  }
  void field(const Field& field) override {
    if (depth_ > 0 && levels_[depth_ - 1].form == Form::message) put(Value(field.name));
  }
  void end_message() override { close(); }

 private:
  struct Level {
    Value value;
    Value key;
    bool have_key = false;
    Form form = Form::message;
  };
  void open(Value value, Form form) {
    if (depth_ == max_depth) fail(too_deep());
    if (failed()) return;
    levels_[depth_++] = Level{std::move(value), Value(), false, form};
  }
  void close() {
    if (failed()) return;
    Value done = std::move(levels_[--depth_].value);
    put(std::move(done));
  }
  void put(Value value) {
    if (failed()) return;
    if (depth_ == 0) {
      root_ = std::move(value);
      return;
    }
    Level& top = levels_[depth_ - 1];
    if (top.form == Form::bare) {
      top.value = std::move(value);
    } else if (Value::List* list = top.value.list()) {
      list->push_back(std::move(value));
    } else if (!top.have_key) {
      top.key = std::move(value);
      top.have_key = true;
    } else {
      top.value.map()->emplace_back(std::move(top.key), std::move(value));
      top.have_key = false;
    }
  }
  Value root_;
  std::array<Level, max_depth> levels_;
  int depth_ = 0;
};

}  // namespace

Result<Value> Value::of(const MessageType& type, const void* object) {
  ValueWriter writer;
  type.write(object, writer);
  if (writer.failed()) return writer.error();
  return std::move(writer.result());
}

namespace described {

void write_value(const Value& value, Writer& writer) { value.write(writer); }
bool read_value(Value& value, Reader& reader) { return value.read(reader); }

namespace {
constinit const Type any_type{.kind = Kind::value};
constinit const Field value_field{1, "value", &any_type, {}, 0};
}  // namespace

constinit Eternal<ValueType> value_type_holder;

ValueType::~ValueType() = default;
std::span<const Field> ValueType::fields() const noexcept { return {&value_field, 1}; }
void ValueType::write(const void* object, Writer& writer) const {
  writer.begin_message(*this);
  if (writer.failed()) return;
  writer.field(value_field);
  static_cast<const Value*>(object)->write(writer);
  writer.end_message();
}
void ValueType::read(void* object, Reader& reader) const {
  if (!reader.begin_message(*this)) return;
  while (reader.next_field(*this))
    if (!static_cast<Value*>(object)->read(reader)) return;
}

}  // namespace described
}  // namespace tenon
