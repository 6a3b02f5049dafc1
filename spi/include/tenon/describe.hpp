#pragma once
// Plain structs as messages. A struct described with Boost.Describe is a message:
//
//   namespace demo {
//   struct User { std::string name; std::int64_t uid = 0; std::vector<std::string> mails; };
//   BOOST_DESCRIBE_STRUCT(User, (), (name, uid, mails))          // same namespace, <= 52 members
//   }
//
// Field numbers are positions, from 1; the name is the C++ name with dots ("demo.User"). To change either, or to give
// members a help line, specialise Describe before the first use:
//
//   template <> struct tenon::Describe<demo::User> {
//     static constexpr std::string_view name = "acme.User";
//     static constexpr auto members = tenon::members(tenon::member("name", 1, "full name"), tenon::member("uid", 7),
//                                                    tenon::member("mails", 8), tenon::reserved(2, 6));
//   };
//
// A number that is zero, taken twice, reserved or out of range, and a name that is no member, do not compile.
//
// Members may be: bool, integers, float, double, std::string, Bytes, described enums, std::chrono durations, ByteSize,
// std::vector, std::map, std::unordered_map, std::optional, messages of any family, Value and Use<Kind>.
// Reading replaces the default of a list or map by what arrives (in one or several pieces), leaves missing members at
// their default, and treats null for a member that is not optional as missing. Writing announces every member except
// absent optionals.

#include <array>
#include <boost/describe.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "tenon/describe_names.hpp"
#include "tenon/described_type.hpp"
#include "tenon/type.hpp"
#include "tenon/use.hpp"

namespace tenon {

class Value;

/// Bytes that are not text (Kind::bytes).
struct Bytes {
  std::string data;
  bool operator==(const Bytes&) const = default;
};

/// The empty message: what a function without a result answers.
struct Void {
  bool operator==(const Void&) const = default;
};
BOOST_DESCRIBE_STRUCT(Void, (), ())

/// The arguments of a plain function, in order (Form::arguments). Names are arg1, arg2 … unless arguments_type() is
/// given better ones.
template <class... A>
struct Arguments {
  std::tuple<A...> values;
};

/// One value that is no message (Form::bare): a function's result. Its one field is number 1, "value".
template <class T>
struct Bare {
  T value{};
};

/// How the objects of class T are messages: a static member `holder`, an Eternal<some MessageType> initialised by a
/// constant expression. Specialised (with a requires clause) once for each family: described structs, argument lists
/// and bare values here, generated protobuf classes in tenon/protobuf.hpp, Value in tenon/value.hpp.
template <class T>
struct MessageFamily;

template <class T>
concept Message = requires {
  MessageFamily<T>::holder;
};

/// The MessageType of class T. The same object for ever (one for each shared library that asks).
template <class T>
constexpr const MessageType& message_type() noexcept {
  static_assert(Message<T>,
                "T is no message: describe it with BOOST_DESCRIBE_STRUCT(T, (), (members…)) in T's own "
                "namespace, or include tenon/protobuf.hpp for generated protobuf classes");
  return MessageFamily<T>::holder.value;
}

/// Customises a described struct; see the top of this file.
template <class T>
struct Describe {};

/// How a C++ type is a value: `static constexpr Type type()`, `static void write(const T&, Writer&)`,
/// `static bool read(T&, Reader&)`. Not for users.
template <class T>
struct ValueTraits;

namespace described {

template <class T>
constexpr Type make_type() noexcept {
  return ValueTraits<T>::type();
}
template <class T>
inline constinit const Type type_constant = make_type<T>();

template <class T>
constexpr ValueOps make_ops() noexcept {
  ValueOps ops;
  ops.write = [](const void* value, Writer& writer) { ValueTraits<T>::write(*static_cast<const T*>(value), writer); };
  ops.read = [](void* value, Reader& reader) { return ValueTraits<T>::read(*static_cast<T*>(value), reader); };
  if constexpr (requires(const T& value) { ValueTraits<T>::present(value); })
    ops.present = [](const void* value) { return ValueTraits<T>::present(*static_cast<const T*>(value)); };
  if constexpr (requires(T & value) { ValueTraits<T>::restart(value); })
    ops.restart = [](void* value) { ValueTraits<T>::restart(*static_cast<T*>(value)); };
  ops.takes_null = requires { ValueTraits<T>::takes_null; };
  return ops;
}
template <class T>
inline constexpr ValueOps value_ops = make_ops<T>();

}  // namespace described

/// The Type of a member, list element or map entry of C++ type T. The same object for ever.
template <class T>
constexpr const Type& type_of() noexcept {
  return described::type_constant<T>;
}

/// "duration", "list of string", "map of string to i32", "optional u16", an enumeration's names joined by "|", a
/// message's name, "component filter": for people.
TENON_SPI std::string type_text(const Type& type);

/// Receives one member of an object.
class TENON_SPI MemberVisitor {
 public:
  virtual ~MemberVisitor();
  /// `value` is the member's value as a text a manifest could hold ("1500ms", "64KiB", "[]", "round_robin"); empty for
  /// an absent optional or component. Members of nested messages follow with their path ("pool.size").
  virtual void member(std::string_view path, const Field& field, const std::string& value) = 0;
};
/// Shows every member of `object` to `visitor`, in order. With an object from type.create(): the options a plugin has
/// and their defaults.
TENON_SPI void visit_members(const MessageType& type, const void* object, MemberVisitor& visitor);

// ---------------------------------------------------------------------------------------------------------------------
// From here on: how it is done.

namespace described {

template <class T>
concept Struct = boost::describe::has_describe_members<T>::value && std::is_class_v<T>;
template <class E>
concept Enum = std::is_enum_v<E> && boost::describe::has_describe_enumerators<E>::value;

template <class T>
using MemberList = boost::describe::describe_members<T, boost::describe::mod_public | boost::describe::mod_inherited>;

template <class List>
struct Expand;
template <template <class...> class L, class... D>
struct Expand<L<D...>> {
  static constexpr std::size_t size = sizeof...(D);
  template <class T>
  static consteval std::array<FieldPlan, size> plans() {
    return {FieldPlan{D::name, &type_of<std::remove_cvref_t<decltype(std::declval<T&>().*D::pointer)>>()}...};
  }
  template <class T>
  static consteval std::array<MemberOps, size> ops() {
    return {MemberOps{[](void* object) -> void* { return &(static_cast<T*>(object)->*D::pointer); },
                      &value_ops<std::remove_cvref_t<decltype(std::declval<T&>().*D::pointer)>>}...};
  }
  static consteval std::array<Enumerator, size> enumerators() {
    return {Enumerator{D::name, static_cast<std::int32_t>(D::value)}...};
  }
  static consteval bool fit_int32() {
    return ((static_cast<std::int64_t>(D::value) >= INT32_MIN && static_cast<std::int64_t>(D::value) <= INT32_MAX) &&
            ... && true);
  }
};

template <class T>
consteval auto specs() {
  if constexpr (requires { Describe<T>::members; }) {
    return Describe<T>::members;
  } else {
    return std::array<MemberSpec, 0>{};
  }
}

template <class T>
consteval auto struct_fields() {
  constexpr auto plans = Expand<MemberList<T>>::template plans<T>();
  constexpr auto wanted = specs<T>();
  constexpr NumberFault fault = check_numbers(std::span<const FieldPlan>(plans), std::span<const MemberSpec>(wanted));
  static_assert(fault != NumberFault::zero, "Describe<T>: field numbers start at 1");
  static_assert(fault != NumberFault::range, "Describe<T>: a field number is above 2^29-1 or in 19000..19999");
  static_assert(fault != NumberFault::twice,
                "Describe<T>: two members have the same number (members that are not "
                "listed take their position)");
  static_assert(fault != NumberFault::reserved, "Describe<T>: a member has a reserved number");
  static_assert(fault != NumberFault::no_member, "Describe<T>: names something that is no member of T");
  return number_fields<plans.size()>(plans, std::span<const MemberSpec>(wanted));
}

template <class T>
inline constinit const auto struct_fields_constant = struct_fields<T>();
template <class T>
inline constinit const auto struct_ops_constant = Expand<MemberList<T>>::template ops<T>();

template <class T>
constexpr std::string_view described_name() noexcept {
  if constexpr (requires { Describe<T>::name; }) {
    return Describe<T>::name;
  } else {
    return type_name<T>();
  }
}

template <class E>
inline constinit const auto enumerators_constant = Expand<boost::describe::describe_enumerators<E>>::enumerators();
template <class E>
inline constinit const EnumType enum_constant{described_name<E>(),
                                              std::span<const Enumerator>(enumerators_constant<E>)};

template <class T>
inline constinit const std::array<Field, 1> bare_field{Field{1, "value", &type_of<T>(), {}, 0}};
template <class T>
inline constinit const std::array<MemberOps, 1> bare_ops{
    MemberOps{[](void* object) -> void* { return &static_cast<Bare<T>*>(object)->value; }, &value_ops<T>}};
template <class Index, class... A>
struct ArgumentTable;
template <std::size_t... I, class... A>
struct ArgumentTable<std::index_sequence<I...>, A...> {
  static constexpr std::array<Field, sizeof...(A)> fields() {
    return {Field{static_cast<std::uint32_t>(I + 1), argument_name<I + 1>(), &type_of<A>(), {}, I}...};
  }
  static constexpr std::array<MemberOps, sizeof...(A)> ops() {
    return {MemberOps{[](void* object) -> void* { return &std::get<I>(static_cast<Arguments<A...>*>(object)->values); },
                      &value_ops<A>}...};
  }
};
template <class... A>
inline constinit const auto argument_fields = ArgumentTable<std::index_sequence_for<A...>, A...>::fields();
template <class... A>
inline constinit const auto argument_ops = ArgumentTable<std::index_sequence_for<A...>, A...>::ops();
}  // namespace described

template <described::Struct T>
struct MessageFamily<T> {
  static Eternal<described::DescribedType> holder;
};
template <described::Struct T>
constinit Eternal<described::DescribedType> MessageFamily<T>::holder{
    described::described_name<T>(), Form::message, std::span<const Field>(described::struct_fields_constant<T>),
    std::span<const described::MemberOps>(described::struct_ops_constant<T>), &described::object_ops<T>};

template <class T>
struct MessageFamily<Bare<T>> {
  static Eternal<described::DescribedType> holder;
};
template <class T>
constinit Eternal<described::DescribedType> MessageFamily<Bare<T>>::holder{
    std::string_view(), Form::bare, std::span<const Field>(described::bare_field<T>),
    std::span<const described::MemberOps>(described::bare_ops<T>), &described::object_ops<Bare<T>>};

template <class... A>
struct MessageFamily<Arguments<A...>> {
  static Eternal<described::DescribedType> holder;
};
template <class... A>
constinit Eternal<described::DescribedType> MessageFamily<Arguments<A...>>::holder{
    std::string_view(), Form::arguments, std::span<const Field>(described::argument_fields<A...>),
    std::span<const described::MemberOps>(described::argument_ops<A...>), &described::object_ops<Arguments<A...>>};

/// The type of Arguments<A...> with the parameters' real names. Ownership: the caller's; must outlive its objects.
/// REQUIRES: names.size() == sizeof...(A), names unique and not empty.
template <class... A>
std::unique_ptr<const MessageType> arguments_type(std::span<const std::string_view> names) {
  return described::renamed(MessageFamily<Arguments<A...>>::holder.value, names);
}

}  // namespace tenon

#include "tenon/describe_values.hpp"
