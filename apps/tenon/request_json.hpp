#pragma once
#include <string_view>
#include <vector>

#include "generic_call.hpp"
#include "tenon/result.hpp"
#include "tenon/schema.hpp"
#include "tenon/serializer.hpp"

namespace tenon::cli {

/// Fills `request` from JSON; `json` is the serializer of that name. `types`: null, or the parameters' types that the
/// command line told and `request` was made of (InterfaceTypes::from_parameters): the JSON then must fit in number,
/// too. Fails with: config, a sentence that says what of the JSON is wrong.
Result<void> read_request(const Serializer& json, std::string_view text, const std::vector<SchemaType>* types,
                          const Object& request);

}  // namespace tenon::cli
