#include "bodies.hpp"
#include "contract/compressor_contract.hpp"

namespace tenon::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Gzip, CompressorContract,
                         testing::Values(CompressorCase{
                             "gzip", [] { return std::make_unique<gzip::GzipCompressor>(gzip_of_level(1)); }}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::test
