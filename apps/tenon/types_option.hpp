#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tenon/result.hpp"
#include "tenon/schema.hpp"

namespace tenon::cli {

/// What `--types` says: a method's parameter types, separated by commas; nothing means no parameters. A type is
///   bool boolean i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 string bytes value    (value: of any kind, null too)
///   byte short int long float double                                         (i8 i16 i32 i64 f32 f64)
///   list<T>   map<K,V>   with K text, an integer or a boolean
///   T?                                                                       (may be null)
/// with spaces anywhere between words, nested at most DynamicTypes::Limits::type_depth deep.
/// Fails with: config; the text names the column, counted in bytes from 1, and what is wrong there.
Result<std::vector<SchemaType>> parse_types(std::string_view text);

/// A type as parse_types() reads it: "map<string,list<i32>>?". Kinds it has no word for get their own name.
std::string to_text(const SchemaType& type);

}  // namespace tenon::cli
