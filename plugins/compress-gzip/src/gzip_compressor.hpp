#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "tenon/catalog.hpp"
#include "tenon/serializer.hpp"

namespace tenon::gzip {

struct GzipOptions {
  ByteSize min_size{1u << 10};
  std::int32_t level = 1;
};
BOOST_DESCRIBE_STRUCT(GzipOptions, (), (min_size, level))

/// Compressor "gzip" (RFC 1952), by zlib. Both functions append to `out` and never throw.
/// Threads: const and concurrent; each thread keeps its own zlib streams (streams.hpp).
class GzipCompressor final : public Compressor {
 public:
  using Options = GzipOptions;
  /// Fails with: config (no such level).
  static Result<std::unique_ptr<GzipCompressor>> create(Options options, Environment environment);
  /// REQUIRES: 1 <= options.level <= 9.
  explicit GzipCompressor(const Options& options) noexcept : options_(options) {}

  std::string_view encoding() const noexcept override { return "gzip"; }
  std::size_t min_size() const noexcept override { return options_.min_size; }
  /// One member with an empty header: no name, time 0. Fails with: overloaded (no memory).
  Result<void> compress(std::string_view bytes, OutBuffer& out) const override;
  /// `bytes` is one member or several, and nothing else. On failure `out` holds what it held before.
  /// Memory: one block for the output, and only once its size is known or plausible, so never beyond what `limit`
  /// allows (OutBuffer rounds up, to less than twice that). A sender who states a wrong size costs a second pass.
  /// Fails with: malformed; too_large (more than `limit` bytes come out); overloaded (no memory).
  Result<void> decompress(std::string_view bytes, OutBuffer& out, std::size_t limit) const override;

 private:
  const Options options_;
};

}  // namespace tenon::gzip

template <>
struct tenon::Describe<tenon::gzip::GzipOptions> {
  static constexpr auto members =
      tenon::members(tenon::member("min_size", "shorter bodies are sent as they are"),
                     tenon::member("level", "1 is fastest, 9 smallest; what is received may have any"));
};
