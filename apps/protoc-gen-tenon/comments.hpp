#pragma once
#include <google/protobuf/descriptor.h>

#include <string>

namespace tenon::generator {

/// The .proto's words on a service or method as "/// …" lines, each ending with a newline; empty: it says nothing.
std::string doc_comment(const google::protobuf::ServiceDescriptor& service);
std::string doc_comment(const google::protobuf::MethodDescriptor& method);

}  // namespace tenon::generator
