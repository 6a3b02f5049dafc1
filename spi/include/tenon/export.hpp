#pragma once
// Symbol visibility. Everything is built with -fvisibility=hidden; a declaration that crosses a shared-library
// boundary carries one of these.

/// Part of the contract, defined in tenon_spi (or an interface whose vtable lives there).
#define TENON_SPI __attribute__((visibility("default")))
