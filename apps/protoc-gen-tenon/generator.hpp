#pragma once
#include <google/protobuf/compiler/code_generator.h>

#include <string>
#include <vector>

namespace tenon::generator {

/// protoc's view of this program. For each .proto it writes NAME.tenon.h and NAME.tenon.cc (also when the file has no
/// service, so that build rules need not look inside).
/// Fails with: a list of "file:line:col: …" lines, for everything in the run that cannot be generated.
class Generator final : public google::protobuf::compiler::CodeGenerator {
 public:
  bool Generate(const google::protobuf::FileDescriptor* file, const std::string& parameter,
                google::protobuf::compiler::GeneratorContext* out, std::string* error) const override;
  bool GenerateAll(const std::vector<const google::protobuf::FileDescriptor*>& files, const std::string& parameter,
                   google::protobuf::compiler::GeneratorContext* out, std::string* error) const override;
  uint64_t GetSupportedFeatures() const override { return FEATURE_PROTO3_OPTIONAL; }
};

}  // namespace tenon::generator
