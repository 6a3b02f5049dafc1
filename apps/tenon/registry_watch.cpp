// tenon registry watch: one line for each change.

#include <cstdio>
#include <ctime>
#include <deque>
#include <mutex>
#include <utility>

#include "command.hpp"
#include "command_document.hpp"
#include "manifest/scalar.hpp"
#include "registry_changes.hpp"
#include "registry_text.hpp"
#include "registry_tool.hpp"
#include "screen.hpp"
#include "service_query.hpp"

namespace tenon::cli {

namespace {

constexpr const char* who = "registry watch";
constexpr Duration between_looks = std::chrono::milliseconds(50);

/// What the registry said, from its thread to this one.
class Heard {
 public:
  void add(const Result<Snapshot>& news) {
    const std::lock_guard lock(mutex_);
    news_.push_back(news);
  }
  std::deque<Result<Snapshot>> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(news_, {});
  }

 private:
  std::mutex mutex_;
  std::deque<Result<Snapshot>> news_;
};

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  char text[16];
  std::strftime(text, sizeof text, "%H:%M:%S", ::localtime_r(&now, &local));
  return text;
}

/// Turns what was heard into lines.
class Diary {
 public:
  Diary(std::string service, bool json) : service_(std::move(service)), json_(json) {}

  std::string lines(const Result<Snapshot>& news) {
    if (!news.ok()) return lost(news.error());
    std::string text;
    if (lost_) text = line("!", "returned", "the registry answers again");
    lost_ = false;
    if (!std::exchange(listed_, true)) return text + list(*news);
    for (const RegistryChange& change : changes(last_, *news))
      text += json_ ? object(to_string(change.what), ",\"change\":" + json_text(change.text) +
                                                         ",\"instance\":" + instance_json(change.instance))
                    : time_of_day() + " " + change.text + "\n";
    last_ = news->instances;
    return text;
  }
  bool listed() const noexcept { return listed_; }

 private:
  std::string lost(const Error& error) {
    if (std::exchange(lost_, true)) return {};
    return line("!", "lost",
                "the registry does not answer: " + error.text() + (listed_ ? "; the list stays as it was" : ""));
  }
  std::string list(const Snapshot& now) {
    last_ = now.instances;
    if (!json_) return service_ + (last_.empty() ? ": no instances\n" : ":\n" + instances_text(last_));
    std::string instances;
    for (const Instance& each : last_) instances += (instances.empty() ? "" : ",") + instance_json(each);
    return object("list", ",\"instances\":[" + instances + "]");
  }
  std::string line(const std::string& sign, const std::string& event, const std::string& text) const {
    return json_ ? object(event, ",\"text\":" + json_text(text)) : time_of_day() + " " + sign + " " + text + "\n";
  }
  std::string object(const std::string& event, const std::string& rest) const {
    return "{\"time\":" + json_text(time_of_day()) + ",\"service\":" + json_text(service_) + ",\"event\":\"" + event +
           "\"" + rest + "}\n";
  }

  const std::string service_;
  const bool json_;
  bool listed_ = false;
  bool lost_ = false;
  std::vector<Instance> last_;
};

}  // namespace

int watch_service(const WatchOptions& options) {
  auto query = ServiceQuery::parse(options.service, options.group);
  if (!query.ok()) return complain(who, query.error());
  Duration time{0};
  if (!options.time.empty()) {
    if (const std::string fault = manifest::parse_duration(options.time, time); !fault.empty())
      return misused(who, "--for " + options.time + ": expected " + fault);
  }
  Screen screen(false);  // before the registry's threads: they leave signals alone
  auto heard = std::make_shared<Heard>();
  auto registry = RegistryClient::open(options.target);
  if (!registry.ok()) return complain(who, registry.error());
  auto services = (*registry)->services();
  if (!services.ok()) return complain(who, services.error());
  auto service = query->one_of(*services, true);
  if (!service.ok()) return complain(who, service.error());
  auto watching = (*registry)->watch({*service, "tenon registry watch"},
                                     [heard](const Result<Snapshot>& news) { heard->add(news); });
  if (!watching.ok()) return complain(who, watching.error());
  Diary diary(service->text(), options.json);
  const auto until = std::chrono::steady_clock::now() + time;
  bool going = true;
  while (going) {
    going = screen.pause(between_looks) && (options.time.empty() || std::chrono::steady_clock::now() < until);
    for (const Result<Snapshot>& news : heard->take())
      if (!screen.show(diary.lines(news))) going = false;
  }
  (*registry)->end_watches();
  return diary.listed() ? exit_ok : exit_failed;
}

}  // namespace tenon::cli
