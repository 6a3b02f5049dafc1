// Plugins that are no files: a table given to the host.
#include "plugin_host/built_in.hpp"

#include <gtest/gtest.h>

#include "plugin_host/plugin_host.hpp"
#include "tenon/filter.hpp"
#include "tenon/plugins.hpp"

namespace tenon::plugin_host {
namespace {

class Pass final : public Filter {
 public:
  using Options = NoOptions;
  static Result<std::unique_ptr<Pass>> create(Options, Environment) { return std::make_unique<Pass>(); }
  Task<Result<Response>> apply(Request& request, Invoker& next) override { return next.call(request); }
};

constexpr Plugin filter_pass{
    .name = "filter-pass",
    .version = "2.1.0",
    .install = [](Catalog& catalog) { catalog.add<Filter, Pass>("pass"); },
};
constexpr Plugin filter_other{
    .name = "filter-other",
    .version = "1.0.0",
    .install = [](Catalog& catalog) { catalog.add<Filter, Pass>("pass"); },
};
constexpr Plugin other_stamp{
    .stamp = "abi" TENON_STRING(TENON_ABI) " of another compiler",
    .name = "other-stamp",
    .version = "1.0.0",
    .install = [](Catalog&) {},
};
constexpr const Plugin* table[] = {&filter_pass, &filter_other, &other_stamp, nullptr};

PluginOptions options() {
  PluginOptions options;
  options.built_in = table;
  return options;
}

TEST(BuiltIn, IsFoundWithoutAnyDirectory) {
  PluginHost host(options());
  const Result<void> loaded = host.load("filter-pass");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  const LoadedEntry* const entry = host.catalog().find("filter", "pass");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->origin, "filter-pass (built in)");
  EXPECT_EQ(entry->plugin, "filter-pass");
  EXPECT_EQ(entry->version, "2.1.0");
  EXPECT_TRUE(host.load("filter-pass").ok()) << "loading it again does nothing";
}

TEST(BuiltIn, IsInNoCatalogUnlessLoaded) {
  const PluginHost host(options());
  EXPECT_TRUE(host.catalog().all().empty());
  EXPECT_NE(host.why_missing("filter", "pass").find("add filter-pass to plugins.load"), std::string::npos)
      << host.why_missing("filter", "pass");
}

TEST(BuiltIn, IsCheckedLikeAFile) {
  PluginHost host(options());
  ASSERT_TRUE(host.load("filter-pass").ok());
  EXPECT_EQ(host.load("filter-other").error().text(),
            "filter \"pass\" is offered by both filter-pass (built in) and filter-other (built in); load one of them");
  const Result<void> refused = host.load("other-stamp");
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(refused.error().text().starts_with("other-stamp (built in) was built differently from this host"))
      << refused.error().text();
}

TEST(BuiltIn, IsListedBeforeFiles) {
  const Result<std::vector<PluginReport>> reports = inspect(options());
  ASSERT_TRUE(reports.ok()) << reports.error().text();
  ASSERT_EQ(reports->size(), 3u);
  EXPECT_EQ(reports->front().path, "filter-pass (built in)");
  ASSERT_EQ(reports->front().entries.size(), 1u);
  EXPECT_EQ(reports->front().entries.front().name, "pass");
  EXPECT_EQ(reports->back().path, "other-stamp (built in)");
  EXPECT_NE(reports->back().refusal.find("was built differently"), std::string::npos) << reports->back().refusal;
}

TEST(BuiltIn, NoTableIsNoPlugin) {
  PluginOptions none;
  none.built_in = nullptr;
  EXPECT_TRUE(all_built_in(none).empty());
  EXPECT_EQ(find_built_in(none, "filter-pass"), nullptr);
}

}  // namespace
}  // namespace tenon::plugin_host
