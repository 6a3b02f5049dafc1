#pragma once
#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

namespace tenon::generator {

/// Everything in `file` that no code can be made for, as "greeter.proto:12:3: demo.Greeter.Watch: why; what to do".
/// Empty: nothing.
std::vector<std::string> refusals(const google::protobuf::FileDescriptor& file);

}  // namespace tenon::generator
