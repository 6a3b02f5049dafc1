#include "command_change.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <utility>

#include "command.hpp"
#include "command_document.hpp"
#include "service_query.hpp"
#include "traffic_preview.hpp"
#include "traffic_text.hpp"

namespace tenon::cli {

namespace {

constexpr const char* kind = "command";
constexpr const char* empty_list = "{\"clientCommandList\":[]}";

bool is_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 || inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

/// A service of the group, and who follows it.
struct Followed {
  ServiceName service;
  std::vector<Subscriber> subscribers;
  /// Where they are; "": nowhere that is known.
  std::vector<std::string> addresses() const {
    std::set<std::string> found;
    for (const Subscriber& each : subscribers) found.insert(is_address(each.address) ? each.address : "");
    if (found.empty()) found.insert("");
    return {found.begin(), found.end()};
  }
};

Result<std::vector<Followed>> services_of(RegistryClient& registry, const ServiceQuery& query) {
  auto services = registry.services();
  if (!services.ok()) return std::move(services).error();
  std::vector<Followed> found;
  for (ServiceName& service : *services) {
    if (!query.matches(service)) continue;
    auto subscribers = registry.subscribers(service);
    if (!subscribers.ok()) return std::move(subscribers).error();
    found.push_back({std::move(service), std::move(*subscribers)});
  }
  return found;
}

std::vector<Subscriber> foreign_ones(const std::vector<Followed>& services) {
  std::vector<Subscriber> foreign;
  for (const Followed& each : services)
    std::copy_if(each.subscribers.begin(), each.subscribers.end(), std::back_inserter(foreign),
                 [](const Subscriber& subscriber) { return subscriber.foreign; });
  return foreign;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

/// One change from its reading to its end.
class Change {
 public:
  Change(const char* who, const ChangeOptions& options) : who_(who), options_(options) {}

  int set() {
    auto text = read_source(options_.source);
    if (!text.ok()) return complain(who_, text.error());
    then_ = std::move(*text);
    return run(false);
  }
  int remove() { return run(true); }

 private:
  int run(bool removing) {
    auto registry = RegistryClient::open(options_.target, {"cluster"});
    if (!registry.ok()) return complain(who_, registry.error());
    registry_ = std::move(*registry);
    if (auto read = look(); !read.ok()) return complain(who_, read.error());
    if (options_.version && *options_.version != document_.version) return conflict();
    if (removing && document_.version == 0) return refuse("there is no command");
    if (!removing && document_.version != 0 && document_.text == then_) {
      std::printf("group %s: this is its command already (version %s); nothing is written\n", options_.group.c_str(),
                  version(document_.version).c_str());
      return exit_ok;
    }
    const bool malformed = !show_complaints();
    if (unusable_) return exit_usage;
    show_order();
    auto broken = show_shares();
    if (!broken.ok()) return complain(who_, broken.error());
    warn(removing);
    if (malformed && !options_.force) {
      (void)refuse("nothing is written, because the entries above are malformed; correct them, or say --force");
      return exit_usage;
    }
    if (!broken->empty() && !options_.force)
      return refuse("nothing is written, because nobody would serve " + joined(*broken) +
                    "; change the command, or say --force");
    if (options_.dry_run) {
      std::printf("group %s: nothing is written (--dry-run)\n", options_.group.c_str());
      return exit_ok;
    }
    return write(removing);
  }

  Result<void> look() {
    auto document = registry_->read(kind, options_.group);
    if (!document.ok()) return std::move(document).error();
    document_ = std::move(*document);
    auto services = services_of(*registry_, ServiceQuery(options_.group));
    if (!services.ok()) return std::move(services).error();
    services_ = std::move(*services);
    return {};
  }

  // False: something is wrong.
  bool show_complaints() {
    TrafficPreview preview(*registry_);
    auto complaints = preview.complaints(then_);
    if (!complaints.ok()) {
      unusable_ = true;
      (void)refuse(complaints.error().text());
      return false;
    }
    for (const std::string& complaint : *complaints) std::fprintf(stderr, "malformed: %s\n", complaint.c_str());
    return complaints->empty();
  }

  void show_order() {
    auto entries = read_entries(then_);
    if (!entries.ok()) return;  // told as a complaint
    entries_ = std::move(*entries);
    if (entries_.empty())
      std::printf("group %s: no entries; every client calls its own group\n", options_.group.c_str());
    else
      std::printf("group %s: the first entry whose pattern matches a service applies to it:\n%s",
                  options_.group.c_str(), entries_text(entries_).c_str());
  }

  // What would be left without instances.
  Result<std::vector<std::string>> show_shares() {
    TrafficPreview preview(*registry_);
    std::vector<std::string> broken;
    std::size_t same = 0;
    for (const Followed& each : services_) {
      auto previews = preview.of(each.service, each.addresses(), document_.text, then_);
      if (!previews.ok()) return std::move(previews).error();
      bool changes = false;
      for (const Preview& shown : *previews) {
        if (shown.breaks()) broken.push_back(each.service.text());
        if (!shown.changes()) continue;
        changes = true;
        std::printf("\n%s", preview_text(shown, Columns::now_and_then).c_str());
      }
      if (!changes) ++same;
    }
    std::sort(broken.begin(), broken.end());
    broken.erase(std::unique(broken.begin(), broken.end()), broken.end());
    std::printf("%s%zu of %zu services change\n", same < services_.size() ? "\n" : "", services_.size() - same,
                services_.size());
    return broken;
  }

  void warn(bool removing) {
    const std::vector<Subscriber> foreign = foreign_ones(services_);
    if (foreign.empty()) return;
    if (const auto drained = drained_groups(entries_); !removing && !drained.empty())
      std::fprintf(stderr,
                   "warning: clients that are not Tenon's follow group %s: %s. Motan's take weight 0 for 1, so they go "
                   "on calling %s; leave it out of mergeGroups instead\n",
                   options_.group.c_str(), names_of(foreign).c_str(), joined(drained).c_str());
    if (removing && !options_.force) {
      keep_list_ = true;
      std::fprintf(stderr,
                   "note: clients that are not Tenon's follow group %s: %s. Motan's in Go do not notice that a command "
                   "has gone, so an empty list is written instead (--force deletes it)\n",
                   options_.group.c_str(), names_of(foreign).c_str());
    }
  }

  int write(bool removing) {
    Document changed = document_;
    changed.text = removing ? empty_list : then_;
    const bool gone = removing && !keep_list_;
    const Result<void> done = gone ? registry_->remove(changed) : registry_->write(changed);
    if (!done.ok() && (done.error().code() == Errc::already_exists || done.error().code() == Errc::not_found))
      return conflict();
    if (!done.ok()) return complain(who_, done.error());
    if (gone) {
      std::printf("group %s: deleted (it had version %s)\n", options_.group.c_str(),
                  version(document_.version).c_str());
      return exit_ok;
    }
    auto written = registry_->read(kind, options_.group);
    if (!written.ok()) return complain(who_, written.error());
    std::printf("group %s: written, version %s -> %s\n", options_.group.c_str(), version(document_.version).c_str(),
                version(written->version).c_str());
    return exit_ok;
  }

  int conflict() {
    return refuse("somebody else has changed the command since it had version " +
                  version(options_.version.value_or(document_.version)) +
                  ", so nothing is written; look at it (tenon command get " + options_.group + ") and decide anew");
  }
  int refuse(const std::string& why) const {
    std::fprintf(stderr, "tenon %s: group %s: %s\n", who_, options_.group.c_str(), why.c_str());
    return exit_failed;
  }
  static std::string version(std::uint64_t number) { return number == 0 ? "none" : std::to_string(number); }

  const char* const who_;
  const ChangeOptions& options_;
  std::unique_ptr<RegistryClient> registry_;
  std::string then_;
  Document document_;
  std::vector<Followed> services_;
  std::vector<CommandEntry> entries_;
  bool unusable_ = false;
  bool keep_list_ = false;
};

}  // namespace

int set_command(const ChangeOptions& options) { return Change("command set", options).set(); }

int delete_command(const ChangeOptions& options) { return Change("command delete", options).remove(); }

int preview_command(const PreviewOptions& options) {
  constexpr const char* who = "command preview";
  std::string then;
  if (!options.source.empty()) {
    auto text = read_source(options.source);
    if (!text.ok()) return complain(who, text.error());
    then = std::move(*text);
  }
  for (const std::string& client : options.clients)
    if (!is_address(client)) return misused(who, "--client " + client + ": is no IP address");
  ServiceQuery query(options.group);
  if (!options.service.empty()) {
    auto parsed = ServiceQuery::parse(options.service, options.group);
    if (!parsed.ok()) return complain(who, parsed.error());
    query = std::move(*parsed);
  }
  auto registry = RegistryClient::open(options.target, {"cluster"});
  if (!registry.ok()) return complain(who, registry.error());
  auto document = (*registry)->read(kind, options.group);
  if (!document.ok()) return complain(who, document.error());
  const Columns columns = options.source.empty() ? Columns::now : Columns::now_and_then;
  if (options.source.empty()) then = document->text;
  TrafficPreview preview(**registry);
  auto complaints = preview.complaints(then);
  if (!complaints.ok() && !options.source.empty()) {
    (void)complain(who, complaints.error());
    return exit_usage;
  }
  if (complaints.ok())
    for (const std::string& complaint : *complaints) std::fprintf(stderr, "malformed: %s\n", complaint.c_str());

  auto services = services_of(**registry, query);
  if (!services.ok()) return complain(who, services.error());
  if (services->empty()) {
    std::fprintf(stderr, "tenon %s: the registry has no service %s\n", who,
                 options.service.empty() ? ("of group " + options.group).c_str() : query.text().c_str());
    return exit_failed;
  }
  std::string text;
  for (const Followed& each : *services) {
    auto previews =
        preview.of(each.service, options.clients.empty() ? each.addresses() : options.clients, document->text, then);
    if (!previews.ok()) return complain(who, previews.error());
    for (const Preview& shown : *previews)
      text += options.json ? (text.empty() ? "" : ",\n") + preview_json(shown, columns)
                           : (text.empty() ? "" : "\n") + preview_text(shown, columns);
  }
  std::printf("%s", options.json ? ("{\"previews\":[" + text + "]}\n").c_str() : text.c_str());
  return exit_ok;
}

}  // namespace tenon::cli
