#include "emit.hpp"

#include <google/protobuf/compiler/cpp/names.h>
#include <google/protobuf/descriptor.pb.h>

#include <map>

#include "comments.hpp"
#include "method_templates.hpp"
#include "names.hpp"
#include "tenon/protobuf.hpp"

namespace tenon::generator {

namespace pb = google::protobuf;

namespace {

using Words = std::map<std::string, std::string>;

std::string indented(const std::string& lines, const std::string& margin) {
  std::string text;
  bool at_start = true;
  for (const char c : lines) {
    if (at_start) text += margin;
    text += c;
    at_start = c == '\n';
  }
  return text;
}

// Each method with the words its templates use.
std::vector<Words> method_words(const pb::ServiceDescriptor& service) {
  const std::vector<MethodNames> names = method_names(service);
  std::vector<Words> all;
  for (int i = 0; i < service.method_count(); ++i) {
    const pb::MethodDescriptor& method = *service.method(i);
    const bool idempotent = method.options().idempotency_level() != pb::MethodOptions::IDEMPOTENCY_UNKNOWN;
    all.push_back({{"class", class_name(service)},
                   {"index", std::to_string(i)},
                   {"name", method.name()},
                   {"full_name", service.full_name() + "." + method.name()},
                   {"plain", names[static_cast<std::size_t>(i)].plain},
                   {"into", names[static_cast<std::size_t>(i)].into},
                   {"in", pb::compiler::cpp::QualifiedClassName(method.input_type())},
                   {"out", pb::compiler::cpp::QualifiedClassName(method.output_type())},
                   {"idempotent", idempotent ? "true" : "false"},
                   {"shape", std::string(to_string(shape_of(method)))},
                   {"comment", indented(doc_comment(method), "  ")}});
  }
  return all;
}

const MethodTemplates& templates(const Words& method) { return method_templates(method.at("shape")); }

bool has_streams(const pb::FileDescriptor& file) {
  for (int i = 0; i < file.service_count(); ++i)
    for (int k = 0; k < file.service(i)->method_count(); ++k)
      if (file.service(i)->method(k)->server_streaming()) return true;
  return false;
}

void emit_class(const pb::ServiceDescriptor& service, pb::io::Printer& out) {
  const Words words{{"class", class_name(service)},
                    {"full_name", service.full_name()},
                    {"comment", doc_comment(service)},
                    {"reference", service.method_count() > 0 ? "reference" : ""}};
  out.Print(
      words,
      "$comment$"
      "class __attribute__((visibility(\"default\"))) $class$ final {\n"
      " public:\n"
      "  class Service;\n"
      "  class Client;\n"
      "\n"
      "  $class$() = delete;\n"
      "  static constexpr ::std::string_view interface = \"$full_name$\";\n"
      "  /// In the order of the .proto.\n"
      "  static ::std::span<const ::tenon::Method> methods() noexcept;\n"
      "};\n"
      "\n"
      "/// Implement $full_name$ by deriving from this. A method with one reply has two functions; override one of\n"
      "/// them: `Method` returns its reply, `MethodInto` fills one that is used again and again. What is not\n"
      "/// overridden answers `unimplemented`.\n"
      "/// Threads: called concurrently from every io thread. Ownership: request, reply and info live until the task\n"
      "/// has ended. An exception becomes an error reply.\n"
      "class __attribute__((visibility(\"default\"))) $class$::Service : public ::tenon::Service {\n"
      " public:\n"
      "  ~Service() override;\n"
      "\n");
  const std::vector<Words> methods = method_words(service);
  for (const Words& method : methods) out.Print(method, templates(method).declaration);
  out.Print(words,
            "  ::std::string_view interface() const noexcept final { return $class$::interface; }\n"
            "  ::std::span<const ::tenon::Method> methods() const noexcept final { return $class$::methods(); }\n"
            "  ::tenon::Task<::tenon::Result<::tenon::Response>> call(::tenon::Request& request) final;\n"
            "  ::std::string_view file_descriptor_set() const noexcept final;\n"
            "};\n"
            "\n"
            "/// Calls $full_name$. Each member is a method in all its forms (tenon/client.hpp). Copyable.\n"
            "/// Threads: any.\n"
            "class __attribute__((visibility(\"default\"))) $class$::Client {\n"
            " public:\n"
            "  explicit Client(::std::shared_ptr<::tenon::Reference> $reference$);\n");
  for (const Words& method : methods) out.Print(method, templates(method).client_member);
  out.Print("};\n\n");
}

void emit_call(const Words& words, const std::vector<Words>& methods, pb::io::Printer& out) {
  out.Print(words,
            "::tenon::Task<::tenon::Result<::tenon::Response>> $class$::Service::call(::tenon::Request& request) {\n"
            "  switch (request.target->index) {\n");
  for (const Words& method : methods) out.Print(method, templates(method).dispatch);
  out.Print(words,
            "    default:\n"
            "      return ::tenon::ready(::tenon::Result<::tenon::Response>(::tenon::Error(\n"
            "          ::tenon::Errc::not_found, \"$full_name$ has no method of this number\",\n"
            "          ::tenon::Delivery::not_run, ::tenon::Advice::never)));\n"
            "  }\n"
            "}\n"
            "\n");
}

void emit_bodies(const pb::ServiceDescriptor& service, pb::io::Printer& out) {
  const Words words{{"class", class_name(service)},
                    {"full_name", service.full_name()},
                    {"file", service.file()->name()},
                    {"reference", service.method_count() > 0 ? "reference" : ""}};
  const std::vector<Words> methods = method_words(service);
  out.Print(words, "::std::span<const ::tenon::Method> $class$::methods() noexcept {\n");
  if (methods.empty()) {
    out.Print("  return {};\n");
  } else {
    out.Print("  static const ::tenon::Method all[] = {\n");
    for (const Words& method : methods)
      out.Print(method,
                "      {\"$name$\", ::tenon::Shape::$shape$, &::tenon::message_type<$in$>(),\n"
                "       &::tenon::message_type<$out$>(), $idempotent$},\n");
    out.Print("  };\n  return all;\n");
  }
  out.Print(words,
            "}\n"
            "\n"
            "$class$::Service::~Service() = default;\n"
            "\n");
  for (const Words& method : methods) out.Print(method, templates(method).bodies);
  emit_call(words, methods, out);
  out.Print(
      words,
      "::std::string_view $class$::Service::file_descriptor_set() const noexcept {\n"
      "  // Kept for ever: calls may come until the process ends.\n"
      "  static const ::std::string* const set = new ::std::string(::tenon_generated::describe_file(\"$file$\"));\n"
      "  return *set;\n"
      "}\n"
      "\n"
      "$class$::Client::Client(::std::shared_ptr<::tenon::Reference> $reference$)");
  const char* separator = "\n    : ";
  for (const Words& method : methods) {
    out.Print(separator);
    out.Print(method, "$plain$(reference, $class$::methods()[$index$])");
    separator = ",\n      ";
  }
  out.Print(" {}\n\n");
}

// Serializes a file and all it imports, imports first, from the generated pool.
constexpr const char* describe_file =
    "namespace tenon_generated {\n"
    "namespace {\n"
    "\n"
    "void add_file(const ::google::protobuf::FileDescriptor& file, ::std::set<::std::string>& seen,\n"
    "              ::google::protobuf::FileDescriptorSet& set) {\n"
    "  if (!seen.insert(file.name()).second) return;\n"
    "  for (int i = 0; i < file.dependency_count(); ++i) add_file(*file.dependency(i), seen, set);\n"
    "  file.CopyTo(set.add_file());\n"
    "}\n"
    "\n"
    "::std::string describe_file(const char* name) {\n"
    "  ::google::protobuf::FileDescriptorSet set;\n"
    "  ::std::set<::std::string> seen;\n"
    "  const ::google::protobuf::FileDescriptor* file =\n"
    "      ::google::protobuf::DescriptorPool::generated_pool()->FindFileByName(name);\n"
    "  if (file) add_file(*file, seen, set);\n"
    "  return set.SerializeAsString();\n"
    "}\n"
    "\n"
    "}  // namespace\n"
    "}  // namespace tenon_generated\n"
    "\n";

constexpr const char* banner = "// Made by protoc-gen-tenon from $file$. Do not edit.\n";

}  // namespace

std::string output_stem(const pb::FileDescriptor& file) { return pb::compiler::cpp::StripProto(file.name()); }

void emit_header(const pb::FileDescriptor& file, pb::io::Printer& out) {
  const Words words{{"file", file.name()}, {"stem", output_stem(file)}, {"namespace", namespace_of(file)}};
  out.Print(words, banner);
  out.Print(words, "#pragma once\n\n#include \"$stem$.pb.h\"\n");
  if (file.service_count() == 0) return;
  out.Print(
      "\n"
      "#include <memory>\n"
      "#include <span>\n"
      "#include <string_view>\n"
      "\n"
      "#include \"tenon/client.hpp\"\n"
      "#include \"tenon/protobuf.hpp\"\n"
      "#include \"tenon/service.hpp\"\n");
  if (has_streams(file)) out.Print("#include \"tenon/serve_stream.hpp\"\n#include \"tenon/stream.hpp\"\n");
  out.Print("\n");
  if (!words.at("namespace").empty()) out.Print(words, "namespace $namespace$ {\n\n");
  for (int i = 0; i < file.service_count(); ++i) emit_class(*file.service(i), out);
  if (!words.at("namespace").empty()) out.Print(words, "}  // namespace $namespace$\n");
}

void emit_source(const pb::FileDescriptor& file, pb::io::Printer& out) {
  const Words words{{"file", file.name()}, {"stem", output_stem(file)}, {"namespace", namespace_of(file)}};
  out.Print(words, banner);
  out.Print(words, "#include \"$stem$.tenon.h\"\n");
  if (file.service_count() == 0) return;
  out.Print(
      "\n"
      "#include <google/protobuf/descriptor.h>\n"
      "#include <google/protobuf/descriptor.pb.h>\n"
      "\n"
      "#include <set>\n"
      "#include <string>\n"
      "#include <utility>\n"
      "\n"
      "#include \"tenon/serve.hpp\"\n"
      "\n");
  out.PrintRaw(describe_file);
  if (!words.at("namespace").empty()) out.Print(words, "namespace $namespace$ {\n\n");
  for (int i = 0; i < file.service_count(); ++i) emit_bodies(*file.service(i), out);
  if (!words.at("namespace").empty()) out.Print(words, "}  // namespace $namespace$\n");
}

}  // namespace tenon::generator
