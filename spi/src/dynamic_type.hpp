#pragma once
// Message types whose objects are Value; see tenon/schema.hpp.

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tenon/schema.hpp"

namespace tenon {

class DynamicType final : public MessageType {
 public:
  DynamicType(std::string name, Form form) : name_(std::move(name)), form_(form) {}
  /// Once, before anything else.
  void set_fields(std::vector<Field> fields);

  std::string_view name() const noexcept override { return name_; }
  Form form() const noexcept override { return form_; }
  std::span<const Field> fields() const noexcept override { return fields_; }
  void* create() const override { return new Value; }
  void destroy(void* object) const noexcept override { delete static_cast<Value*>(object); }
  void clear(void* object) const override { *static_cast<Value*>(object) = Value(); }
  void copy(const void* from, void* to) const override { *static_cast<Value*>(to) = *static_cast<const Value*>(from); }
  void move(void* from, void* to) const override { *static_cast<Value*>(to) = std::move(*static_cast<Value*>(from)); }
  void write(const void* object, Writer& writer) const override;
  void read(void* object, Reader& reader) const override;
  const Field* find(std::uint32_t number) const noexcept override;
  const Field* find(std::string_view name) const noexcept override;

 private:
  bool check_names(const Value& value, Writer& writer) const;

  std::string name_;
  Form form_;
  std::vector<Field> fields_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::unordered_map<std::uint32_t, std::size_t> by_number_;
};

struct DynamicTypes::State {
  std::deque<std::string> texts;
  std::deque<Type> types;
  std::deque<std::vector<Enumerator>> enumerators;
  std::deque<EnumType> enums;
  std::deque<DynamicType> messages;
  std::unordered_map<std::string_view, const EnumType*> enum_by_name;
  std::unordered_map<std::string_view, DynamicType*> message_by_name;

  std::string_view keep(const std::string& text) { return texts.emplace_back(text); }
};

}  // namespace tenon
