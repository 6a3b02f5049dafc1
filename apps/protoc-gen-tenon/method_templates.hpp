#pragma once
#include <string_view>

namespace tenon::generator {

/// What is generated for one method, as texts for google::protobuf::io::Printer: $in$, $out$, $plain$, $into$, $class$,
/// $full_name$, $index$, $comment$ are the method's.
struct MethodTemplates {
  const char* declaration;    ///< in the skeleton's class
  const char* bodies;         ///< the skeleton's functions, as long as nobody overrides them
  const char* dispatch;       ///< its case in Service::call
  const char* client_member;  ///< in the client's class
};

/// `shape` as tenon::to_string(Shape) says it: unary, one_way or server_stream.
const MethodTemplates& method_templates(std::string_view shape) noexcept;

}  // namespace tenon::generator
