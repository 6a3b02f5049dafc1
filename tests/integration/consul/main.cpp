// The programs of this folder: without an agent they say so and end with 77, which CTest counts as skipped.
#include <gtest/gtest.h>

#include <cstdio>

#include "support/consul_agent.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  const tenon::test::ConsulAgent::Program program = tenon::test::ConsulAgent::program();
  if (program.path.empty()) {
    std::printf("SKIPPED: %s\n", program.missing.c_str());
    return 77;
  }
  return RUN_ALL_TESTS();
}
