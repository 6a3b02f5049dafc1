#include "generator.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/printer.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <memory>

#include "emit.hpp"
#include "refusals.hpp"

namespace tenon::generator {

namespace pb = google::protobuf;

bool Generator::GenerateAll(const std::vector<const pb::FileDescriptor*>& files, const std::string& parameter,
                            pb::compiler::GeneratorContext* out, std::string* error) const {
  if (!parameter.empty()) {
    *error = "protoc-gen-tenon takes no parameters, but was given \"" + parameter + "\"";
    return false;
  }
  // protoc puts its own words in front of the first line, where editors would not find the position.
  for (const pb::FileDescriptor* file : files)
    for (const std::string& refusal : refusals(*file)) *error += "\n" + refusal;
  if (!error->empty()) return false;
  for (const pb::FileDescriptor* file : files)
    if (!Generate(file, parameter, out, error)) return false;
  return true;
}

bool Generator::Generate(const pb::FileDescriptor* file, const std::string&, pb::compiler::GeneratorContext* out,
                         std::string* error) const {
  const std::string stem = output_stem(*file);
  const auto write = [&](const std::string& name, void (*emit)(const pb::FileDescriptor&, pb::io::Printer&)) {
    const std::unique_ptr<pb::io::ZeroCopyOutputStream> stream(out->Open(name));
    pb::io::Printer printer(stream.get(), '$');
    emit(*file, printer);
    if (printer.failed()) *error = name + " could not be written";
    return !printer.failed();
  };
  return write(stem + ".tenon.h", &emit_header) && write(stem + ".tenon.cc", &emit_source);
}

}  // namespace tenon::generator
