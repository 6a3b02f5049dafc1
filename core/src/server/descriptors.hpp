#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "tenon/core_export.hpp"
#include "tenon/service.hpp"

namespace tenon {

/// The built-in service that tells generic callers (`tenon call`, a console, a gateway) what the others look like:
///   services() -> list of string          the interfaces offered here, this one included
///   describe(interface) -> SchemaService  methods, their types and, for generated messages, the file descriptor set
///   describe fails with: not_found (the text names what there is).
inline constexpr std::string_view descriptors_interface = "tenon.Descriptors";

/// Makes it for `services`. When an interface is offered in several groups or versions the first one is described.
/// Ownership: shares them. Threads: the result is a Service like any other.
TENON_CORE std::shared_ptr<Service> make_descriptors(std::vector<std::shared_ptr<Service>> services);

}  // namespace tenon
