#pragma once
// Included in front of every file that sees protobuf's headers in a ThreadSanitizer build. There protobuf adds a member
// to its map fields, which the system's library, built without, does not have. The standard library looks at the macro
// first, so that its own annotations stay.
#include <atomic>
#include <memory>
#undef __SANITIZE_THREAD__
// What was undone; tenon/plugin.hpp asks for it.
#define TENON_UNDER_TSAN
