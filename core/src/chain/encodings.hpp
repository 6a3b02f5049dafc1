#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/serializer.hpp"

namespace tenon {

/// Every serializer and compressor an App has loaded, by the names they have on the wire. A name from a peer selects
/// only among these; nothing is ever loaded because of it.
/// Threads: immutable after construction.
class Encodings {
 public:
  Encodings(std::vector<std::shared_ptr<const Serializer>> serializers,
            std::vector<std::shared_ptr<const Compressor>> compressors, std::size_t limit)
      : serializers_(std::move(serializers)), compressors_(std::move(compressors)) {
    for (const auto& compressor : compressors_) compressor_names_.emplace_back(compressor->encoding());
    for (const auto& serializer : serializers_) {
      all_.push_back(Encoding{serializer.get(), nullptr, limit});
      for (const auto& compressor : compressors_) all_.push_back(Encoding{serializer.get(), compressor.get(), limit});
    }
  }
  /// Null when either is unknown. `compressor` empty: not compressed. Valid while this lives.
  const Encoding* find(std::string_view serializer, std::string_view compressor) const noexcept {
    for (const Encoding& encoding : all_)
      if (encoding.serializer->content_type() == serializer &&
          (encoding.compressor ? encoding.compressor->encoding() == compressor : compressor.empty()))
        return &encoding;
    return nullptr;
  }
  /// What bodies may be inflated here.
  std::span<const std::string> compressors() const noexcept { return compressor_names_; }

 private:
  std::vector<std::string> compressor_names_;
  std::vector<std::shared_ptr<const Serializer>> serializers_;
  std::vector<std::shared_ptr<const Compressor>> compressors_;
  std::vector<Encoding> all_;
};

}  // namespace tenon
