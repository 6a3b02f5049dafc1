#pragma once
#include <string_view>

#include "tenon/export.hpp"

namespace tenon {

/// True if `text` is well-formed UTF-8: no overlong forms, surrogates or code points above U+10FFFF.
/// Threads: any. Blocking: no.
TENON_SPI bool is_utf8(std::string_view text) noexcept;

}  // namespace tenon
