#pragma once
#include <cstdint>

namespace tenon::test {

/// A TCP port of loopback that nobody listens on now. Throws std::runtime_error when there is none.
std::uint16_t free_port();

}  // namespace tenon::test
