#include "interface_types.hpp"

#include <google/protobuf/compiler/importer.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <filesystem>
#include <set>

#include "manifest/nearest.hpp"
#include "types_option.hpp"

namespace tenon::cli {

namespace {

namespace pb = google::protobuf;

/// Collects the compiler's words as "file:line:col: text" lines.
class Mistakes final : public pb::compiler::MultiFileErrorCollector {
 public:
  void AddError(const std::string& file, int line, int column, const std::string& message) override {
    if (!text_.empty()) text_ += '\n';
    text_ += file;
    if (line >= 0) text_ += ':' + std::to_string(line + 1) + ':' + std::to_string(column + 1);
    text_ += ": " + message;
  }
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

// `file` after everything it imports.
void collect(const pb::FileDescriptor& file, std::set<std::string>& seen, pb::FileDescriptorSet& files) {
  if (!seen.insert(file.name()).second) return;
  for (int i = 0; i < file.dependency_count(); ++i) collect(*file.dependency(i), seen, files);
  file.CopyTo(files.add_file());
}

/// The files of a folder tree, and what this program brings along.
class Sources final : public pb::compiler::SourceTree {
 public:
  explicit Sources(pb::compiler::DiskSourceTree& disk) : disk_(disk) {}
  pb::io::ZeroCopyInputStream* Open(const std::string& name) override {
    pb::io::ZeroCopyInputStream* file = disk_.Open(name);
    if (file || name != "tenon/method.proto") return file;
    return new pb::io::ArrayInputStream(method_proto_.data(), static_cast<int>(method_proto_.size()));
  }
  std::string GetLastErrorMessage() override { return disk_.GetLastErrorMessage(); }

 private:
  pb::compiler::DiskSourceTree& disk_;
  const std::string method_proto_ = method_proto_text();
};

}  // namespace

Result<std::unique_ptr<InterfaceTypes>> InterfaceTypes::from_schema(const SchemaService& schema) {
  std::unique_ptr<InterfaceTypes> made(new InterfaceTypes(schema.name));
  const std::string& files = schema.types.file_descriptor_set.data;
  Result<void> added = files.empty() ? made->add_dynamic_methods(schema) : made->add_protobuf_methods(files);
  if (!added.ok()) return std::move(added).error().prefix("the types of " + schema.name);
  return made;
}

Result<std::unique_ptr<InterfaceTypes>> InterfaceTypes::from_proto(const std::string& file,
                                                                   const std::vector<std::string>& imports,
                                                                   std::string_view interface) {
  const auto wrong = [](std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run); };
  std::error_code missing;
  if (!std::filesystem::is_regular_file(file, missing)) return wrong("--proto " + file + ": there is no such file");
  pb::compiler::DiskSourceTree tree;
  for (const std::string& import : imports) tree.MapPath("", import);
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  tree.MapPath("", folder.empty() ? "." : folder.string());
  std::string name;
  std::string shadowing;
  if (tree.DiskFileToVirtualFile(file, &name, &shadowing) != pb::compiler::DiskSourceTree::SUCCESS)
    return wrong("--proto " + file + ": " + (shadowing.empty() ? "cannot be read" : "is hidden by " + shadowing));
  Mistakes mistakes;
  Sources sources(tree);
  pb::compiler::Importer importer(&sources, &mistakes);
  const pb::FileDescriptor* compiled = importer.Import(name);
  if (!compiled) return wrong(mistakes.text().empty() ? file + ": does not compile" : mistakes.text());
  pb::FileDescriptorSet files;
  std::set<std::string> seen;
  collect(*compiled, seen, files);
  std::unique_ptr<InterfaceTypes> made(new InterfaceTypes(interface));
  if (Result<void> added = made->add_protobuf_methods(files.SerializeAsString()); !added.ok())
    return std::move(added).error().prefix(file);
  return made;
}

Result<std::unique_ptr<InterfaceTypes>> InterfaceTypes::from_parameters(std::string_view interface,
                                                                        std::string_view method,
                                                                        std::span<const SchemaType> types) {
  SchemaMessage arguments;
  arguments.form = Form::arguments;
  arguments.name = "(";
  for (const SchemaType& type : types) {
    const auto index = static_cast<std::uint32_t>(arguments.fields.size());
    arguments.name += (index == 0 ? "" : ", ") + to_text(type);
    arguments.fields.push_back({index + 1, "arg" + std::to_string(index), type, ""});
  }
  arguments.name += ')';
  // A name is for messages only, and the schema's own is bounded.
  constexpr std::size_t longest_name = 200;
  if (arguments.name.size() > longest_name) arguments.name = "(" + std::to_string(types.size()) + " arguments)";
  Schema schema;
  schema.messages.push_back(std::move(arguments));
  Result<std::unique_ptr<DynamicTypes>> made_types = DynamicTypes::create(schema);
  if (!made_types.ok()) return std::move(made_types).error();
  std::unique_ptr<InterfaceTypes> made(new InterfaceTypes(interface));
  made->dynamic_ = std::move(*made_types);
  made->add(method, Shape::unary, *made->dynamic_->find(schema.messages.front().name), message_type<Value>(), false);
  return made;
}

Result<void> InterfaceTypes::add_protobuf_methods(std::string_view file_descriptor_set) {
  if (Result<void> added = protobuf_.add_files(file_descriptor_set); !added.ok()) return added;
  const pb::ServiceDescriptor* service = protobuf_.pool().FindServiceByName(interface_);
  if (!service)
    return Error(Errc::not_found, "there is no service " + interface_ + " among the descriptors", Delivery::not_run,
                 Advice::never);
  for (int i = 0; i < service->method_count(); ++i) {
    const pb::MethodDescriptor& method = *service->method(i);
    add(method.name(), shape_of(method), protobuf_.of(*method.input_type()), protobuf_.of(*method.output_type()),
        method.options().idempotency_level() != pb::MethodOptions::IDEMPOTENCY_UNKNOWN);
  }
  return {};
}

Result<void> InterfaceTypes::add_dynamic_methods(const SchemaService& schema) {
  Result<std::unique_ptr<DynamicTypes>> types = DynamicTypes::create(schema.types);
  if (!types.ok()) return std::move(types).error();
  dynamic_ = std::move(*types);
  for (const SchemaMethod& method : schema.methods) {
    const MessageType* input = dynamic_->find(method.input);
    const MessageType* output = dynamic_->find(method.output);
    const bool known_shape = method.shape >= 0 && method.shape <= static_cast<std::int32_t>(Shape::bidi);
    if (!input || !output || !known_shape)
      return Error(Errc::invalid_argument, "method " + method.name + " has no known shape or types", Delivery::not_run,
                   Advice::never);
    add(method.name, static_cast<Shape>(method.shape), *input, *output, method.idempotent);
  }
  return {};
}

void InterfaceTypes::add(std::string_view name, Shape shape, const MessageType& input, const MessageType& output,
                         bool idempotent) {
  names_.emplace_back(name);
  methods_.push_back(Method{names_.back(), shape, &input, &output, idempotent});
}

Result<const Method*> InterfaceTypes::find(std::string_view method) const {
  for (const Method& candidate : methods_)
    if (candidate.name == method) return &candidate;
  const std::vector<std::string_view> names(names_.begin(), names_.end());
  const std::string near = did_you_mean(method, names);
  return Error(Errc::not_found,
               interface_ + " has no method \"" + std::string(method) + '"' +
                   (near.empty() ? "; it has: " + listed(names) : near),
               Delivery::not_run, Advice::never);
}

}  // namespace tenon::cli
