#pragma once
// Symbol visibility of the core library, as export.hpp is for the contract.

/// Defined in tenon_core and used outside it.
#define TENON_CORE __attribute__((visibility("default")))
