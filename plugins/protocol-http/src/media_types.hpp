#pragma once
// Which serializer a Content-Type means, and how the answer names it.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/result.hpp"

namespace tenon::http {

struct MediaType {
  std::string name;        ///< "application/json", lower case, without parameters
  std::string serializer;  ///< "json"
  std::string answer;      ///< Content-Type of the answer to a request of this type
};

/// Threads: immutable after create().
class MediaTypes {
 public:
  /// `more`: media types besides the known ones, and their serializers. A known one may be given another meaning.
  /// Fails with: config (no media type, or no serializer).
  static Result<MediaTypes> create(const std::map<std::string, std::string>& more);

  /// `content_type` as the header has it, parameters included; empty is JSON. Null: unknown. Valid while this lives.
  const MediaType* find(std::string_view content_type) const noexcept;
  /// The first type of that serializer; null: none.
  const MediaType* of(std::string_view serializer) const noexcept;
  /// All names, separated by commas.
  const std::string& text() const noexcept { return text_; }

 private:
  std::vector<MediaType> types_;
  std::string text_;
};

}  // namespace tenon::http
