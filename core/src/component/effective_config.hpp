#pragma once
#include <vector>

#include "plugin_host/loaded_catalog.hpp"
#include "tenon/admin.hpp"
#include "tenon/core_export.hpp"
#include "tenon/options.hpp"

namespace tenon {

/// Every value that an App of `given` has in force, in the order of the options: what was written, what core filled in
/// (apply_defaults), and every option of the components, whether written or not. Secrets are hidden.
/// REQUIRES: `given` has not been through apply_defaults(). Threads: any. Blocking: no; milliseconds for a large
/// manifest, which it reads again (from memory) to tell what a program has changed since.
TENON_CORE std::vector<admin::ConfigValue> effective_config(const AppOptions& given,
                                                            const plugin_host::LoadedCatalog& catalog);

}  // namespace tenon
