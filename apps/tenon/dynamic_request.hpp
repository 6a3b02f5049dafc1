#pragma once
// Requests to servers that do not describe themselves: arguments whose types the command line or the JSON tells.

#include <span>
#include <string_view>

#include "tenon/result.hpp"
#include "tenon/schema.hpp"
#include "tenon/value.hpp"

namespace tenon::cli {

/// Whether bytes of this content type show of which kind a value is, so that an answer can be read without its type.
/// Every serializer counts as one that does, except protobuf.
bool shows_kinds(std::string_view content_type) noexcept;

/// Whether asking tenon.Descriptors failed because the server has no such service or cannot be asked that way: the
/// server is no Tenon server. False for a Tenon server that does not know the interface, and for everything else.
bool describes_nothing(const Error& error) noexcept;

/// The arguments that JSON means when nobody told the types: the elements of a list, anything else is one argument.
/// Integers, at every depth, become i32 where the number fits, else i64 (u64 beyond that); other kinds stay.
Value::List untyped_arguments(Value json);

/// The same for the parts of `value`, an object of `type`, whose declared kind is "value"; other integers are exact.
void narrow_dynamic(Value& value, const SchemaType& type);

/// That `json` is a list of as many arguments as there are types, with null only where it is allowed.
/// Fails with: config, a sentence about the arguments.
Result<void> check_arguments(const Value& json, std::span<const SchemaType> types);

}  // namespace tenon::cli
