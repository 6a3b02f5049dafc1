#include "tenon/describe.hpp"

#include "tenon/value.hpp"

namespace tenon {

MemberVisitor::~MemberVisitor() = default;

std::string type_text(const Type& type) {
  std::string text = type.optional ? "optional " : "";
  switch (type.kind) {
    case Kind::list: return text + "list of " + (type.element ? type_text(*type.element) : "value");
    case Kind::map:
      return text + "map of " + (type.key ? type_text(*type.key) : "value") + " to " +
             (type.element ? type_text(*type.element) : "value");
    case Kind::message: return text + std::string(type.message ? type.message->name() : to_string(type.kind));
    case Kind::component: return text + "component " + std::string(type.component_kind);
    case Kind::enumeration: {
      if (!type.enumeration) return text + std::string(to_string(type.kind));
      std::string names;
      for (const Enumerator& e : type.enumeration->enumerators) {
        if (!names.empty()) names += '|';
        names += e.name;
      }
      return text + names;
    }
    default: return text + std::string(to_string(type.kind));
  }
}

namespace {

void visit(const MessageType& type, const Value& shown, const std::string& prefix, int depth, MemberVisitor& visitor) {
  for (const Field& field : type.fields()) {
    const std::string path = prefix + std::string(field.name);
    const Value* value = type.form() == Form::bare ? &shown : shown.find(field.name);
    visitor.member(path, field, value ? to_text(*value, field.type) : std::string());
    if (value && field.type->kind == Kind::message && depth < 64)
      visit(*field.type->message, *value, path + ".", depth + 1, visitor);
  }
}

}  // namespace

void visit_members(const MessageType& type, const void* object, MemberVisitor& visitor) {
  const Result<Value> shown = Value::of(type, object);
  visit(type, shown.ok() ? *shown : Value(), "", 0, visitor);
}

namespace described {

bool bad_duration(Reader& reader, std::chrono::nanoseconds value) {
  reader.fail(
      Error(Errc::malformed, "duration " + to_text(value) + " is finer or longer than its field can hold"));
  return false;
}

DescribedType::~DescribedType() { delete text_.load(std::memory_order_relaxed); }

std::string_view DescribedType::name() const noexcept {
  if (!name_.empty()) return name_;
  if (const std::string* text = text_.load(std::memory_order_acquire)) return *text;
  auto made = std::make_unique<std::string>();
  if (form_ == Form::bare) {
    *made = type_text(*fields_[0].type);
  } else {
    for (const Field& field : fields_) *made += (made->empty() ? "(" : ", ") + type_text(*field.type);
    *made += made->empty() ? "()" : ")";
  }
  const std::string* expected = nullptr;
  if (text_.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) return *made.release();
  return *expected;
}

void DescribedType::write(const void* object, Writer& writer) const {
  writer.begin_message(*this);
  for (const Field& field : fields_) {
    if (writer.failed()) return;
    const MemberOps& member = members_[field.index];
    const void* value = member.at(const_cast<void*>(object));
    if (member.ops->present && !member.ops->present(value)) continue;
    writer.field(field);
    member.ops->write(value, writer);
  }
  writer.end_message();
}

void DescribedType::read(void* object, Reader& reader) const {
  if (!reader.begin_message(*this)) return;
  std::uint64_t seen = 0;  // members with restart() that have arrived; the 64th and later ones append to a default
  while (const Field* field = reader.next_field(*this)) {
    const MemberOps& member = members_[field->index];
    if (!member.ops->takes_null && reader.null()) continue;
    if (member.ops->restart && field->index < 64 && !(seen >> field->index & 1)) {
      seen |= std::uint64_t{1} << field->index;
      member.ops->restart(member.at(object));
    }
    if (!member.ops->read(member.at(object), reader)) return;
  }
}

std::unique_ptr<const MessageType> renamed(const DescribedType& type, std::span<const std::string_view> names) {
  const std::size_t count = type.fields_.size();
  auto fields = std::make_unique<Field[]>(count);
  auto texts = std::make_unique<std::string[]>(count);
  for (std::size_t i = 0; i < count; ++i) {
    texts[i] = i < names.size() ? names[i] : type.fields_[i].name;
    fields[i] = type.fields_[i];
    fields[i].name = texts[i];
  }
  auto made = std::make_unique<DescribedType>(type.name_, type.form_, std::span<const Field>(fields.get(), count),
                                              type.members_, type.object_);
  made->own_fields_ = std::move(fields);
  made->own_names_ = std::move(texts);
  return made;
}

}  // namespace described
}  // namespace tenon
