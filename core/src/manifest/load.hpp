#pragma once
#include <memory>

#include "manifest/node.hpp"
#include "tenon/options.hpp"

namespace tenon::manifest {

/// The options as `document` has them, relative directories made absolute. Mistakes go to `diagnostics`.
AppOptions read_options(std::shared_ptr<const Document> document, Diagnostics& diagnostics);

}  // namespace tenon::manifest
