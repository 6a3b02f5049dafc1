// Feeds bytes to the manifest parser. Checked here: a refusal is a config error whose every line says where it stands;
// what is accepted can be checked and completed. The rest is the sanitizers' work.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/options.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void require_places(const tenon::Error& error) {
  require(error.code() == tenon::Errc::config && !error.text().empty());
  std::string_view rest = error.text();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    require(rest.substr(0, end).starts_with("m.yaml"));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<char> exact(data, data + size);
  tenon::Result<tenon::AppOptions> options = tenon::parse_manifest("m.yaml", {exact.data(), exact.size()});
  if (!options.ok()) {
    require_places(options.error());
    return 0;
  }
  (void)tenon::check(*options);
  tenon::apply_defaults(*options);
  return 0;
}
