#pragma once
#include <cstddef>

#include "tenon/payload.hpp"

namespace tenon::cluster {

/// About how many bytes of memory a copy of `payload` takes. Encodes nothing; walks through a value.
std::size_t footprint(const Payload& payload);

}  // namespace tenon::cluster
