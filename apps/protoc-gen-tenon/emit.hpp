#pragma once
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/printer.h>

#include <string>

namespace tenon::generator {

/// The .proto's name without its ending: "demo/greeter".
std::string output_stem(const google::protobuf::FileDescriptor& file);

/// NAME.tenon.h and NAME.tenon.cc. REQUIRES: refusals(file) is empty.
void emit_header(const google::protobuf::FileDescriptor& file, google::protobuf::io::Printer& out);
void emit_source(const google::protobuf::FileDescriptor& file, google::protobuf::io::Printer& out);

}  // namespace tenon::generator
