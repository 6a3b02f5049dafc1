// A consumer under steady load that shows who answers:
//   traffic-client [--manifest FILE] [--rate N] [--seconds N] [--log FILE]
//
// Ends after so many seconds, or by Ctrl-C or SIGTERM; exit code 1 when a call failed. Lines that come in on standard
// input are shown between the bars, so that a script can say what it does.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

#include "bars.hpp"
#include "greeter.tenon.h"
#include "outside.hpp"
#include "report.hpp"
#include "tally.hpp"
#include "tenon/app.hpp"

namespace {

using namespace std::chrono_literals;
using Time = std::chrono::steady_clock;

struct Arguments {
  std::string manifest = "consumer.yaml";
  std::string log;
  unsigned rate = 200;
  unsigned seconds = 60;
  bool understood = true;
};

bool read_number(std::string_view word, unsigned most, unsigned& number) {
  const auto read = std::from_chars(word.begin(), word.end(), number);
  return read.ec == std::errc() && read.ptr == word.end() && number > 0 && number <= most;
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i];
    const std::string_view value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--manifest") {
      arguments.manifest = value;
    } else if (option == "--log") {
      arguments.log = value;
    } else if (!(option == "--rate" && read_number(value, 100'000, arguments.rate)) &&
               !(option == "--seconds" && read_number(value, 86'400, arguments.seconds))) {
      arguments.understood = false;
    }
  }
  return arguments;
}

/// Makes `rate` calls a second, whether or not those before have been answered: slow servers do not slow it down.
void call_steadily(const std::stop_token& end, const demo::Greeter::Client& greeter, unsigned rate, Tally& tally) {
  demo::HelloRequest request;
  request.set_name("consumer");
  const Time::duration pause = Time::duration(1s) / rate;
  for (Time::time_point due = Time::now(); !end.stop_requested(); due += pause) {
    std::this_thread::sleep_until(due);
    tally.made();
    greeter.SayHello(request, [&tally, due](const tenon::Result<demo::HelloReply>& reply) {
      tally.ended(reply, Time::now() - due);  // on the reference's io thread, which must not block
    });
  }
}

int run(const Arguments& arguments, const demo::Greeter::Client& greeter, Outside& outside, Bars& bars, Report& report,
        Tally& tally) {
  const Time::time_point start = Time::now();
  std::jthread calls([&](const std::stop_token& end) { call_steadily(end, greeter, arguments.rate, tally); });
  for (unsigned number = 1; number <= arguments.seconds; ++number) {
    if (!outside.wait(start + number * 1s, [&bars](const std::string& line) { bars.say(line); })) break;
    report.second(number, tally.figures());
  }
  calls.request_stop();
  calls.join();

  // Calls in flight end in their time-out at the latest, which is shorter than this.
  Tally::Figures all = tally.figures();
  for (const auto until = Time::now() + 5s; all.answered + all.failed < all.made && Time::now() < until;
       all = tally.figures())
    std::this_thread::sleep_for(5ms);
  const std::uint64_t failed = all.made - all.answered;  // one that has not ended has failed
  std::printf("%llu calls, %llu failed calls; the slowest answer took %.1f ms\n",
              static_cast<unsigned long long>(all.made), static_cast<unsigned long long>(failed),
              std::chrono::duration<double, std::milli>(all.slowest).count());
  if (failed > 0) std::printf("the last failure: %s\n", all.failure.empty() ? "no answer" : all.failure.c_str());
  if (!report.good()) std::fprintf(stderr, "%s cannot be written\n", arguments.log.c_str());
  return failed == 0 && report.good() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  if (!arguments.understood) {
    std::fprintf(stderr,
                 "Usage: %s [--manifest FILE] [--rate N] [--seconds N] [--log FILE]\n"
                 "Calls demo.Greeter N times a second (200) for N seconds (60), and shows who answers.\n",
                 argv[0]);
    return 2;
  }
  Outside outside;
  Bars bars;
  Report report(bars, arguments.log);
  if (!report.good()) {
    std::fprintf(stderr, "%s cannot be written\n", arguments.log.c_str());
    return 2;
  }
  Tally tally;  // outlives the App, and so every call
  auto app = tenon::App::from_manifest(arguments.manifest);
  if (!app.ok()) {
    std::fprintf(stderr, "%s\n", app.error().text().c_str());
    return 2;
  }
  if (const auto started = (*app)->start(); !started.ok()) {
    std::fprintf(stderr, "%s\n", started.error().text().c_str());
    return 1;
  }
  const demo::Greeter::Client greeter((*app)->reference("greeter"));
  return run(arguments, greeter, outside, bars, report, tally);
}
