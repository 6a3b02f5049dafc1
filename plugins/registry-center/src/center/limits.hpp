#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "messages.hpp"
#include "tenon/result.hpp"

namespace tenon::center {

// What a center accepts from anybody. Totals are options (CenterOptions).

inline constexpr std::size_t max_name = 255;         ///< bytes: interfaces, groups, versions, kinds, plugins' names
inline constexpr std::size_t max_address = 255;      ///< bytes
inline constexpr std::size_t max_id = 512;           ///< bytes; an id is an address and something more
inline constexpr std::size_t max_application = 255;  ///< bytes
inline constexpr std::size_t max_token = 4096;       ///< bytes
inline constexpr std::size_t max_protocols = 16;
inline constexpr std::size_t max_metadata_entries = 64;
inline constexpr std::size_t max_metadata_bytes = 8u << 10;    ///< keys and values
inline constexpr std::size_t max_document_text = 1u << 20;     ///< bytes
inline constexpr std::size_t max_document_written = 3u << 20;  ///< bytes, escaped as JSON: fits into every frame
inline constexpr std::size_t max_withdrawn = 1000;             ///< ids in one list, the latest
inline constexpr std::size_t max_instances_of_client = 10000;
inline constexpr std::size_t max_subscriptions_of_client = 10000;

// Each fails with: invalid_argument, saying what, which and the limit. Threads: any. Blocking: no.

/// 32 hexadecimal digits each.
Result<void> check_key(const ClientKey& key);
/// Any text without control characters, also none.
Result<void> check_application(std::string_view name);
/// Key, name (as an application's) and the token's size.
Result<void> check_opening(const Opening& opening);
/// Names are 1 to max_name bytes of UTF-8 without control characters and '/', and neither "." nor ".."; group and
/// version may be empty.
Result<void> check_service(const ServiceName& service);
Result<void> check_instance(const Instance& instance);
Result<void> check_id(std::string_view id);
Result<void> check_document_name(std::string_view kind, std::string_view group);
Result<void> check_document(const Document& document);

/// `text` for an error: quoted, shortened, always UTF-8, without what would control a terminal.
std::string quoted(std::string_view text);

/// An upper bound of what `instance` takes in an encoded list, whatever the serializer.
std::size_t bytes_in_list(const Instance& instance) noexcept;

}  // namespace tenon::center
