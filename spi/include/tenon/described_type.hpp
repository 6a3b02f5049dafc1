#pragma once
// The MessageType behind described structs, argument lists and bare values: tables of functions, made while compiling.
// Included by describe.hpp.

#include <atomic>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "tenon/type.hpp"

namespace tenon {

/// Never destroyed, so that calls still running while the process exits keep their types.
template <class T>
union Eternal {
  template <class... A>
  constexpr explicit Eternal(A... arguments) : value(arguments...) {}
  ~Eternal() {}  // NOLINT(modernize-use-equals-default): must not destroy `value`
  T value;
};

namespace described {

/// How values of one C++ type are walked.
struct ValueOps {
  void (*write)(const void* value, Writer& writer) = nullptr;
  bool (*read)(void* value, Reader& reader) = nullptr;
  bool (*present)(const void* value) = nullptr;  ///< null: always
  void (*restart)(void* value) = nullptr;        ///< lists and maps: empties a default before the first piece
  bool takes_null = false;                       ///< reads a null itself
};

/// Where a member is and how it is walked.
struct MemberOps {
  void* (*at)(void* object) = nullptr;
  const ValueOps* ops = nullptr;
};

/// How objects of one C++ class are made and assigned.
struct ObjectOps {
  void* (*create)() = nullptr;
  void (*destroy)(void*) noexcept = nullptr;
  void (*clear)(void*) = nullptr;
  void (*copy)(const void*, void*) = nullptr;
  void (*move)(void*, void*) = nullptr;
  const std::type_info* (*type)() noexcept = nullptr;
};

template <class T>
constexpr ObjectOps make_object_ops() noexcept {
  static_assert(std::is_default_constructible_v<T> && std::is_copy_assignable_v<T>,
                "a described struct must be default-constructible and copyable");
  ObjectOps ops;
  ops.create = []() -> void* { return new T{}; };
  ops.destroy = [](void* object) noexcept { delete static_cast<T*>(object); };
  ops.clear = [](void* object) {
    static const T& fresh = *new const T{};  // assigning from it keeps the capacity of strings and lists
    *static_cast<T*>(object) = fresh;
  };
  ops.copy = [](const void* from, void* to) { *static_cast<T*>(to) = *static_cast<const T*>(from); };
  ops.move = [](void* from, void* to) { *static_cast<T*>(to) = std::move(*static_cast<T*>(from)); };
  ops.type = []() noexcept -> const std::type_info* { return &typeid(T); };
  return ops;
}
template <class T>
inline constexpr ObjectOps object_ops = make_object_ops<T>();

class TENON_SPI DescribedType final : public MessageType {
 public:
  constexpr DescribedType(std::string_view name, Form form, std::span<const Field> fields,
                          std::span<const MemberOps> members, const ObjectOps* object)
      : name_(name), fields_(fields), members_(members), object_(object), form_(form) {}
  ~DescribedType() override;

  std::string_view name() const noexcept override;
  Form form() const noexcept override { return form_; }
  std::span<const Field> fields() const noexcept override { return fields_; }
  void* create() const override { return object_->create(); }
  void destroy(void* object) const noexcept override { object_->destroy(object); }
  void clear(void* object) const override { object_->clear(object); }
  void copy(const void* from, void* to) const override { object_->copy(from, to); }
  void move(void* from, void* to) const override { object_->move(from, to); }
  void write(const void* object, Writer& writer) const override;
  void read(void* object, Reader& reader) const override;

  /// True if both describe the same C++ class (as two shared libraries see it).
  bool same_class(const DescribedType& other) const noexcept { return *object_->type() == *other.object_->type(); }

 private:
  friend TENON_SPI std::unique_ptr<const MessageType> renamed(const DescribedType&, std::span<const std::string_view>);
  std::string_view name_;
  std::span<const Field> fields_;
  std::span<const MemberOps> members_;
  const ObjectOps* object_;
  Form form_;
  mutable std::atomic<const std::string*> text_{nullptr};  // name of an unnamed type, made on first use
  std::unique_ptr<Field[]> own_fields_;                    // renamed()
  std::unique_ptr<std::string[]> own_names_;
};

TENON_SPI std::unique_ptr<const MessageType> renamed(const DescribedType& type,
                                                     std::span<const std::string_view> names);

}  // namespace described
}  // namespace tenon
