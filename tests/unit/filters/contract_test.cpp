#include <unistd.h>

#include <filesystem>

#include "access_log.hpp"
#include "contract/filter_contract.hpp"
#include "support/manual_executor.hpp"
#include "support/recording_log.hpp"

namespace tenon::test {
namespace {

std::unique_ptr<Filter> access_log() {
  static ManualExecutor executor;
  static RecordingLog log;
  access::AccessLogOptions options;
  options.file = (std::filesystem::temp_directory_path() / ("tenon-contract-" + std::to_string(::getpid()))).string();
  auto made = access::AccessLog::create(options, Environment{executor, log, executor.clock()});
  EXPECT_TRUE(made.ok()) << made.error().text();
  std::filesystem::remove(options.file);  // it has it open
  return std::move(*made);
}
INSTANTIATE_TEST_SUITE_P(Plugins, FilterContract, testing::Values(FilterCase{"access_log", access_log}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::test
