#pragma once
// Names and numbers of described structs, computed while compiling. Included by describe.hpp.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tenon/type.hpp"

namespace tenon {

/// One entry of Describe<T>::members.
struct MemberSpec {
  std::string_view name;     ///< empty: a reserved range
  std::int64_t number = -1;  ///< -1: the member's position
  std::string_view help = {};
  std::int64_t last = -1;  ///< reserved range: its end
};

/// A member with its number and help line.
constexpr MemberSpec member(std::string_view name, std::uint32_t number, std::string_view help = {}) {
  return {name, number, help};
}
/// A member that keeps its position as number.
constexpr MemberSpec member(std::string_view name, std::string_view help) { return {name, -1, help}; }
/// Numbers no member may have (any more).
constexpr MemberSpec reserved(std::uint32_t first, std::uint32_t last) { return {{}, first, {}, last}; }
constexpr MemberSpec reserved(std::uint32_t number) { return reserved(number, number); }

template <class... Spec>
constexpr std::array<MemberSpec, sizeof...(Spec)> members(Spec... specs) {
  return {specs...};
}

namespace described {

struct FieldPlan {
  std::string_view name;
  const Type* type;
};

enum class NumberFault { none, zero, range, twice, reserved, no_member };

constexpr std::int64_t number_of(std::span<const FieldPlan> plans, std::span<const MemberSpec> specs,
                                 std::size_t index) {
  for (const MemberSpec& spec : specs)
    if (spec.name == plans[index].name && spec.number >= 0) return spec.number;
  return static_cast<std::int64_t>(index) + 1;
}

constexpr NumberFault check_numbers(std::span<const FieldPlan> plans, std::span<const MemberSpec> specs) {
  for (const MemberSpec& spec : specs) {
    bool found = spec.name.empty();
    for (const FieldPlan& plan : plans) found = found || plan.name == spec.name;
    if (!found) return NumberFault::no_member;
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const std::int64_t number = number_of(plans, specs, i);
    if (number == 0) return NumberFault::zero;
    if (number > 536870911 || (number >= 19000 && number <= 19999)) return NumberFault::range;
    for (std::size_t j = 0; j < i; ++j)
      if (number_of(plans, specs, j) == number) return NumberFault::twice;
    for (const MemberSpec& spec : specs)
      if (spec.name.empty() && number >= spec.number && number <= spec.last) return NumberFault::reserved;
  }
  return NumberFault::none;
}

template <std::size_t N>
constexpr std::array<Field, N> number_fields(const std::array<FieldPlan, N>& plans, std::span<const MemberSpec> specs) {
  std::array<Field, N> fields{};
  for (std::size_t i = 0; i < N; ++i) {
    fields[i].number = static_cast<std::uint32_t>(number_of(plans, specs, i));
    fields[i].name = plans[i].name;
    fields[i].type = plans[i].type;
    fields[i].index = static_cast<std::uint32_t>(i);
    for (const MemberSpec& spec : specs)
      if (spec.name == plans[i].name) fields[i].help = spec.help;
  }
  return fields;
}

template <std::size_t N>
struct FixedText {
  std::array<char, N> text{};
  std::size_t size = 0;
  constexpr std::string_view view() const noexcept { return {text.data(), size}; }
};

template <class T>
consteval std::string_view pretty() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  // g++ explains typedefs after a semicolon; a type's own spelling has none.
  return text.substr(0, text.find(';') != std::string_view::npos ? text.find(';') : text.rfind(']'));
}

// "demo::User" -> "demo.User"; unnamed namespaces leave no trace.
template <class T>
consteval auto dotted() {
  constexpr std::string_view source = pretty<T>();
  FixedText<source.size() + 1> out;
  for (std::size_t i = 0; i < source.size();) {
    const std::string_view rest = source.substr(i);
    bool skipped = false;
    for (std::string_view unnamed : {std::string_view("{anonymous}::"), std::string_view("(anonymous namespace)::"),
                                     std::string_view("<unnamed>::")}) {
      if (rest.starts_with(unnamed)) {
        i += unnamed.size();
        skipped = true;
        break;
      }
    }
    if (skipped) continue;
    if (rest.starts_with("::")) {
      out.text[out.size++] = '.';
      i += 2;
    } else {
      out.text[out.size++] = source[i++];
    }
  }
  return out;
}
template <class T>
inline constexpr auto dotted_constant = dotted<T>();
template <class T>
constexpr std::string_view type_name() noexcept {
  return dotted_constant<T>.view();
}

template <std::size_t N>
consteval auto numbered() {
  FixedText<8> out;
  for (char c : {'a', 'r', 'g'}) out.text[out.size++] = c;
  if (N >= 10) out.text[out.size++] = static_cast<char>('0' + N / 10 % 10);
  out.text[out.size++] = static_cast<char>('0' + N % 10);
  return out;
}
template <std::size_t N>
inline constexpr auto numbered_constant = numbered<N>();
template <std::size_t N>
constexpr std::string_view argument_name() noexcept {
  static_assert(N < 100, "a function has at most 99 parameters");
  return numbered_constant<N>.view();
}

}  // namespace described
}  // namespace tenon
