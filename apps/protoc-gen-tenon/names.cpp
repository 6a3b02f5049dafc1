#include "names.hpp"

#include <google/protobuf/compiler/cpp/names.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace tenon::generator {

namespace pb = google::protobuf;

namespace {

// Sorted, for binary search.
// clang-format off
constexpr std::array<std::string_view, 120> reserved_words{
    "EOF", "FALSE", "INFINITY", "NAN", "NULL", "TRUE", "alignas", "alignof", "and", "and_eq", "asm", "assert", "auto",
    "bitand", "bitor", "bool", "break", "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class",
    "co_await", "co_return", "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr",
    "constinit", "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "errno",
    "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "htonl", "htons", "if", "inline",
    "int", "linux", "long", "major", "minor", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "ntohl",
    "ntohs", "nullptr", "offsetof", "operator", "or", "or_eq", "private", "protected", "public", "register",
    "reinterpret_cast", "requires", "return", "sa_handler", "setjmp", "short", "si_value", "signed", "sizeof",
    "static", "static_assert", "static_cast", "stderr", "stdin", "stdout", "struct", "switch", "template", "this",
    "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union", "unix", "unsigned", "using",
    "va_arg", "va_copy", "va_end", "va_start", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
    "xor_neq"};
// clang-format on
static_assert(std::is_sorted(reserved_words.begin(), reserved_words.end()));

// C++ classes and enumerations that protoc's own output puts into a package's namespace ("Outer_Inner").
void add_classes(const pb::Descriptor& message, std::set<std::string>& names) {
  names.insert(pb::compiler::cpp::ClassName(&message));
  for (int i = 0; i < message.enum_type_count(); ++i) names.insert(pb::compiler::cpp::ClassName(message.enum_type(i)));
  for (int i = 0; i < message.nested_type_count(); ++i) add_classes(*message.nested_type(i), names);
}

void add_classes(const pb::FileDescriptor& file, std::set<std::string>& names) {
  for (int i = 0; i < file.enum_type_count(); ++i) names.insert(pb::compiler::cpp::ClassName(file.enum_type(i)));
  for (int i = 0; i < file.message_type_count(); ++i) add_classes(*file.message_type(i), names);
}

std::string free_name(std::string name, const std::set<std::string>& taken) {
  while (is_reserved(name) || taken.contains(name)) name += '_';
  return name;
}

}  // namespace

bool is_reserved(const std::string& word) {
  return std::binary_search(reserved_words.begin(), reserved_words.end(), word);
}

std::string class_name(const pb::ServiceDescriptor& service) {
  const pb::FileDescriptor& file = *service.file();
  // Members of the generated class itself, which may not be called like their class.
  std::set<std::string> taken{"Client", "Service", "interface", "methods"};
  if (file.package().empty()) taken.insert({"boost", "google", "main", "std", "tenon"});
  add_classes(file, taken);
  for (int i = 0; i < file.dependency_count(); ++i)
    if (file.dependency(i)->package() == file.package()) add_classes(*file.dependency(i), taken);
  // Names of services are unique within the package, so that only a lengthened one can meet another.
  for (int i = 0; i < file.service_count(); ++i) {
    if (file.service(i) == &service) continue;
    if (file.service(i)->name() != service.name()) taken.insert(file.service(i)->name());
  }
  return free_name(service.name(), taken);
}

std::vector<MethodNames> method_names(const pb::ServiceDescriptor& service) {
  // The nested classes' own names (a member of that name would be a constructor) and what tenon::Service declares.
  std::set<std::string> taken{"Client", "Service", "call", "file_descriptor_set", "interface", "kind", "methods"};
  std::vector<MethodNames> names(static_cast<std::size_t>(service.method_count()));
  std::set<std::string> given;
  for (int i = 0; i < service.method_count(); ++i) given.insert(service.method(i)->name());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = service.method(static_cast<int>(i))->name();
    given.erase(name);
    std::set<std::string> others = taken;
    others.insert(given.begin(), given.end());
    names[i].plain = free_name(name, others);
    taken.insert(names[i].plain);
  }
  for (MethodNames& method : names) {
    method.into = free_name(method.plain + "Into", taken);
    taken.insert(method.into);
  }
  return names;
}

std::string namespace_of(const pb::FileDescriptor& file) {
  std::string name;
  for (const char c : file.package())
    if (c == '.')
      name += "::";
    else
      name += c;
  return name;
}

}  // namespace tenon::generator
