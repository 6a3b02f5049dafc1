#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tenon/describe.hpp"

namespace tenon::access {

struct AccessLogOptions {
  std::string file;
  std::vector<std::string> headers;
  double sample = 1;
  std::chrono::nanoseconds slow{0};
  ByteSize max_value = 256;
  ByteSize max_size = 64u << 20;
  std::uint32_t max_files = 5;
  std::uint32_t queue = 8192;
};
BOOST_DESCRIBE_STRUCT(AccessLogOptions, (), (file, headers, sample, slow, max_value, max_size, max_files, queue))

}  // namespace tenon::access

template <>
struct tenon::Describe<tenon::access::AccessLogOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("file", "appended to; empty: the application's log, at level info"),
      tenon::member("headers", "names of request headers to write"),
      tenon::member("sample", "part of the good calls that is written, 0 to 1; failures always are"),
      tenon::member("slow", "only good calls that took longer than this; 0: all"),
      tenon::member("max_value", "longer texts are cut"),
      tenon::member("max_size", "the file is put aside when it would grow beyond this; 0: never"),
      tenon::member("max_files", "files put aside and kept"),
      tenon::member("queue", "lines waiting to be written; beyond it the oldest are dropped and counted"));
};
