#include "contract/serializer_contract.hpp"
#include "msgpack_samples.hpp"
#include "samples.hpp"
#include "simple_samples.hpp"

namespace tenon::test {
namespace {

template <class T>
SerializerCase of(const char* name) {
  return {name, [] { return std::make_unique<T>(); }};
}
INSTANTIATE_TEST_SUITE_P(Serializers, SerializerContract,
                         testing::Values(of<pb::ProtobufSerializer>("protobuf"), of<json::JsonSerializer>("json"),
                                         of<msgpack::MsgpackSerializer>("msgpack"),
                                         of<simple::SimpleSerializer>("simple")),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::test
