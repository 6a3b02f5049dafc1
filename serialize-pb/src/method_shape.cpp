#include <google/protobuf/descriptor.h>
#include <google/protobuf/unknown_field_set.h>

#include "tenon/method.pb.h"
#include "tenon/protobuf.hpp"

namespace tenon {

using google::protobuf::MethodOptions;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

// Descriptors that were built at run time may know the option only as an unknown field.
static bool is_one_way(const MethodOptions& options) {
  if (options.GetExtension(one_way)) return true;
  const UnknownFieldSet& unknown = options.GetReflection()->GetUnknownFields(options);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const UnknownField& field = unknown.field(i);
    if (field.number() == one_way.number() && field.type() == UnknownField::TYPE_VARINT && field.varint() != 0)
      return true;
  }
  return false;
}

Shape shape_of(const google::protobuf::MethodDescriptor& method) {
  if (method.client_streaming()) return method.server_streaming() ? Shape::bidi : Shape::client_stream;
  if (method.server_streaming()) return Shape::server_stream;
  return is_one_way(method.options()) ? Shape::one_way : Shape::unary;
}

std::string method_proto_text() {
  const auto* pool = google::protobuf::DescriptorPool::generated_pool();
  return pool->FindFileByName("tenon/method.proto")->DebugString();
}

}  // namespace tenon
