#pragma once
// A plugin is one constant:
//
//   TENON_PLUGIN constinit const tenon::Plugin tenon_plugin{
//       .name = "filter-hello", .version = "1.0.0",
//       .install = [](tenon::Catalog& c) { c.add<tenon::Filter, Hello>("hello"); },
//   };
//
// Loading it runs nothing of it but static initialisers (probed in a child process first); its stamp is compared
// before install is called. Plugins are never unloaded.

#include <boost/asio/error.hpp>
#include <boost/version.hpp>
#include <cstdint>

#include "tenon/catalog.hpp"
#include "tenon/export.hpp"

/// The ABI number: raised whenever anything in spi/ changes layout or meaning. Part of the exported symbol's name, so
/// that a mismatch is seen before the file is opened.
#define TENON_ABI 4
#define TENON_PLUGIN_SYMBOL_(number) tenon_plugin_abi##number
#define TENON_PLUGIN_SYMBOL(number) TENON_PLUGIN_SYMBOL_(number)
// -Dtenon_plugin=NAME: a plugin linked into a program needs a name of its own (tenon_add_plugin gives it one).
#ifndef tenon_plugin
#define tenon_plugin TENON_PLUGIN_SYMBOL(TENON_ABI)
#endif
#define TENON_PLUGIN extern "C" __attribute__((visibility("default"), used))

namespace tenon {

#define TENON_STRING_(x) #x
#define TENON_STRING(x) TENON_STRING_(x)
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TENON_STAMP_SANITIZER " asan"
#elif __has_feature(thread_sanitizer)
#define TENON_STAMP_SANITIZER " tsan"
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TENON_STAMP_SANITIZER " asan"
#elif defined(__SANITIZE_THREAD__) || defined(TENON_UNDER_TSAN)
#define TENON_STAMP_SANITIZER " tsan"
#endif
#ifndef TENON_STAMP_SANITIZER
#define TENON_STAMP_SANITIZER ""
#endif
#if defined(NDEBUG)
#define TENON_STAMP_ASSERT " ndebug"
#else
#define TENON_STAMP_ASSERT ""
#endif

/// What must agree between host and plugin for C++ objects to cross: library ABI, Boost, sanitizer, assertions.
/// The compiler itself need not match (g++ and clang on one libstdc++ interoperate).
inline constexpr const char* stamp = "abi" TENON_STRING(TENON_ABI) " libstdc++ cxx11abi" TENON_STRING(
    _GLIBCXX_USE_CXX11_ABI) " c++" TENON_STRING(__cplusplus) " boost" TENON_STRING(BOOST_VERSION) TENON_STAMP_ASSERT
    TENON_STAMP_SANITIZER;

/// An object of tenon_spi; its address tells whether a plugin sees the same tenon_spi as its host.
TENON_SPI extern const char spi_identity;

/// Addresses of process-wide objects as the plugin sees them; they must be the host's, or error codes compare unequal
/// and queues are not shared.
struct Identity {
  const void* (*asio_category)() noexcept;
  const void* (*spi)() noexcept;
  const void* (*protobuf_pool)() noexcept;  ///< null when the plugin does not use protobuf
};

/// Tells more than one plugin apart in messages: only trusted as far as the reader of a log trusts the file.
enum class Tier : std::uint32_t {
  cxx = 1,  ///< C++ interfaces, exact stamp (all plugins today; other values are reserved)
};

namespace {
// Internal linkage on purpose: each plugin answers with what *it* sees.
[[maybe_unused]] const void* seen_asio_category() noexcept { return &boost::asio::error::get_misc_category(); }
[[maybe_unused]] const void* seen_spi() noexcept { return &spi_identity; }
}  // namespace

#ifdef TENON_PLUGIN_USES_PROTOBUF
}  // namespace tenon
namespace google::protobuf {
class DescriptorPool;
}
namespace tenon {
/// Defined by tenon::protobuf (serialize-pb).
__attribute__((visibility("default"))) const void* protobuf_pool() noexcept;
#define TENON_SEEN_PROTOBUF &::tenon::protobuf_pool
#else
#define TENON_SEEN_PROTOBUF nullptr
#endif

/// The exported constant. Fields are only ever appended; `size` says how many the plugin knows.
struct Plugin {
  std::uint32_t size = sizeof(Plugin);
  std::uint32_t abi = TENON_ABI;
  Tier tier = Tier::cxx;
  const char* stamp = tenon::stamp;
  const char* name = nullptr;     ///< the file's base name ("registry-zk")
  const char* version = nullptr;  ///< the plugin's own version
  void (*install)(Catalog& catalog) = nullptr;
  Identity identity{&seen_asio_category, &seen_spi, TENON_SEEN_PROTOBUF};
};

}  // namespace tenon
