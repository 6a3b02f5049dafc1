#pragma once
// Metadata is text: key \n value \n key \n value. There is no escape, so neither may hold a newline.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tenon/headers.hpp"
#include "tenon/result.hpp"

namespace tenon::motan2 {

/// Keys with a meaning. The session writes those of the first group itself.
namespace key {
inline constexpr std::string_view path = "M_p";
inline constexpr std::string_view method = "M_m";
inline constexpr std::string_view group = "M_g";
inline constexpr std::string_view version = "M_v";
inline constexpr std::string_view proxy_protocol = "M_pp";
inline constexpr std::string_view timeout = "M_tmo";
inline constexpr std::string_view process_time = "M_pt";
inline constexpr std::string_view exception = "M_e";

inline constexpr std::string_view parameters = "M_md";
inline constexpr std::string_view source = "M_s";
inline constexpr std::string_view module_name = "M_mdu";
inline constexpr std::string_view framework = "M_fws";
// What Java clients say instead of M_g and M_v.
inline constexpr std::string_view java_group = "group";
inline constexpr std::string_view java_version = "version";
// Between two Tenon peers: what the error code alone cannot say.
inline constexpr std::string_view error_detail = "tenon.error";
}  // namespace key

/// Walks through metadata. An unpaired last key is ignored, as Motan Java does; a newline at the end is no key.
class MetadataReader {
 public:
  explicit MetadataReader(std::string_view bytes) noexcept : rest_(bytes) {}
  /// The next pair; false at the end.
  bool next(std::string_view& key, std::string_view& value) noexcept;

 private:
  std::string_view rest_;
};

/// What the metadata of a request say. Views into the bytes they were read from.
struct RequestMetadata {
  std::string_view path, method, group, version;
  std::uint64_t timeout_ms = 0;  ///< 0: none
  bool framework = false;        ///< a call of the framework's own services
  Headers attachments;           ///< everything else
};
/// Fails with: too_large (more than max_count attachments).
Result<void> read_request(std::string_view bytes, std::size_t max_count, RequestMetadata& metadata);

/// What the metadata of a response say.
struct ResponseMetadata {
  std::string_view exception;     ///< JSON
  std::string_view error_detail;
  std::uint64_t process_ms = 0;
  Headers attachments;
};
/// Fails with: too_large.
Result<void> read_response(std::string_view bytes, std::size_t max_count, ResponseMetadata& metadata);

/// Appends "key \n value \n". The last pair of a frame is put without the newline by put_last().
void put(std::string& out, std::string_view key, std::string_view value);
void put_last(std::string& out, std::string_view key, std::string_view value);

/// May this pair be sent as an attachment? Fails with: invalid_argument (a newline, an empty key, a key of the
/// session's own), naming it.
Result<void> check_attachment(std::string_view key, std::string_view value);

}  // namespace tenon::motan2
