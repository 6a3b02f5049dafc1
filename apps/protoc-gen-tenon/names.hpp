#pragma once
// C++ names for what a .proto names. A name that C++, protobuf's own output or the generated class already uses gets
// underscores appended until it is free: a method `delete` becomes `delete_`. Names on the wire never change.

#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

namespace tenon::generator {

/// Keywords of C++20 and macros of the headers that generated code includes.
bool is_reserved(const std::string& word);

/// The class of a service, without its namespace.
std::string class_name(const google::protobuf::ServiceDescriptor& service);

/// The two functions of one method in the skeleton; the stub's member is called `plain`, too.
struct MethodNames {
  std::string plain;  ///< SayHello
  std::string into;   ///< SayHelloInto
};
/// In the order of the service's methods; all different.
std::vector<MethodNames> method_names(const google::protobuf::ServiceDescriptor& service);

/// "demo::v1" for package demo.v1; empty: the global namespace.
std::string namespace_of(const google::protobuf::FileDescriptor& file);

}  // namespace tenon::generator
