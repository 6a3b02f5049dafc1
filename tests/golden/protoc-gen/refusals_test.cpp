// Runs protoc with protoc-gen-tenon on files it must refuse.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace {

struct Outcome {
  int code = -1;
  std::string words;  ///< standard error, from the first line that begins with the file's name
  bool wrote = false;
};

Outcome protoc(const std::string& file, const std::string& parameter = "") {
  char folder[] = "/tmp/protoc-gen-XXXXXX";
  if (!::mkdtemp(folder)) return {};
  const std::string command = "timeout 30 " PROTOC " -I" REFUSED_DIR " -I" OPTIONS_DIR
                              " --plugin=protoc-gen-tenon=" GENERATOR " --tenon_out=" +
                              parameter + folder + " " + file + " 2>&1";
  Outcome outcome;
  std::FILE* const output = ::popen(command.c_str(), "r");
  if (!output) return {};
  char buffer[1024];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, output)) outcome.words.append(buffer, got);
  const int status = ::pclose(output);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  outcome.wrote = !std::filesystem::is_empty(folder);
  std::filesystem::remove_all(folder);
  return outcome;
}

TEST(Refusals, WhatClientsWouldStreamWithItsPlace) {
  const Outcome outcome = protoc("streaming.proto");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_FALSE(outcome.wrote);
  EXPECT_EQ(outcome.words,
            "--tenon_out: \n"
            "streaming.proto:8:5: demo.Greeter.Collect: client streaming is not supported yet; remove `stream` or "
            "leave this method out\n"
            "streaming.proto:9:3: demo.Greeter.Talk: bidirectional streaming is not supported yet; remove `stream` or "
            "leave this method out\n");
}

TEST(Refusals, OneWayStreams) {
  const Outcome outcome = protoc("one_way_stream.proto");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_FALSE(outcome.wrote);
  EXPECT_NE(outcome.words.find("\none_way_stream.proto:7:3: demo.Logs.Tail: a one_way method answers nothing; "),
            std::string::npos)
      << outcome.words;
}

TEST(Refusals, MessagesOfTheLiteRuntime) {
  const Outcome outcome = protoc("lite.proto");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_FALSE(outcome.wrote);
  EXPECT_NE(outcome.words.find("\nlite.proto:6:3: demo.Greeter.SayHello: demo.Ask "), std::string::npos)
      << outcome.words;
  EXPECT_NE(outcome.words.find("LITE_RUNTIME"), std::string::npos) << outcome.words;
}

TEST(Refusals, GenericServices) {
  const Outcome outcome = protoc("generic.proto");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_FALSE(outcome.wrote);
  EXPECT_NE(outcome.words.find("\ngeneric.proto:5:1: demo.Greeter: "), std::string::npos) << outcome.words;
  EXPECT_NE(outcome.words.find("cc_generic_services"), std::string::npos) << outcome.words;
}

TEST(Refusals, UnknownParameter) {
  const Outcome outcome = protoc("generic.proto", "fast:");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_FALSE(outcome.wrote);
  EXPECT_NE(outcome.words.find("\"fast\""), std::string::npos) << outcome.words;
}

}  // namespace
