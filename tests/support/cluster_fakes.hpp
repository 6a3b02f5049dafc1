#pragma once
// What a cluster stands between, scripted: endpoints, their dialer, a registry, a log.

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/cluster.hpp"
#include "tenon/scope.hpp"

namespace tenon::fake {

/// An error with everything retries look at.
inline Error failure(Errc code, Delivery delivery, Advice advice = Advice::none, std::string text = "scripted") {
  return Error(code, std::move(text), delivery, advice);
}

/// An endpoint that does what the test says. Answers carry the header "from" with its id.
class ScriptedEndpoint final : public Endpoint {
 public:
  struct Step {
    std::optional<Error> error{};
    Duration takes{0};  ///< `forever`: until the request's deadline or cancellation
  };
  static constexpr Duration forever = std::chrono::hours(1000);

  explicit ScriptedEndpoint(Instance instance) : instance_(std::move(instance)) {}

  Task<Result<Response>> call(Request& request) override {
    ++calls;
    if (request.info) attempts.push_back(request.info->attempt);
    replies.push_back(request.reply);
    Step step = always;
    if (!script.empty()) {
      step = std::move(script.front());
      script.pop_front();
    }
    ++figures.calls;
    ++figures.in_flight;
    return count(play(std::move(step), request, instance_.id));
  }
  Health health() const noexcept override { return state; }
  const Instance& instance() const noexcept override { return instance_; }
  const Stats& stats() const noexcept override { return figures; }

  Stats figures;  ///< counted as core does it, but for latency
  Health state = Health::open;
  Step always;              ///< what it does after the script
  std::deque<Step> script;  ///< one step for each call
  int calls = 0;
  std::vector<std::uint32_t> attempts;  ///< CallInfo::attempt of each call that had an info
  std::vector<void*> replies;           ///< Request::reply of each call

 private:
  Task<Result<Response>> count(Task<Result<Response>> played) {
    Result<Response> result = co_await played;
    --figures.in_flight;
    const Errc code = result.ok() ? Errc::ok : result.error().code();
    const bool sent = result.ok() || result.error().delivery() != Delivery::not_run;
    const bool fault = code == Errc::unavailable || code == Errc::deadline_exceeded || code == Errc::internal;
    if (!result.ok()) ++figures.errors;
    if (sent && fault) ++figures.faults;
    if (sent && fault)
      ++figures.consecutive_faults;
    else if (result.ok() || result.error().delivery() == Delivery::ran)
      figures.consecutive_faults = 0;
    co_return std::move(result);
  }
  static Task<Result<Response>> play(Step step, Request& request, std::string id) {
    if (step.takes > Duration{0}) {
      Clock& clock = Executor::current()->clock();
      const TimePoint ends = clock.now() + step.takes;
      sleep_until sleep(clock, std::min(ends, request.deadline), request.cancel);
      if (!co_await sleep) co_return failure(Errc::cancelled, Delivery::maybe_run, Advice::never);
      if (request.deadline < ends) co_return failure(Errc::deadline_exceeded, Delivery::maybe_run);
    }
    if (step.error) co_return std::move(*step.error);
    Response response;
    response.headers.set("from", id);
    co_return std::move(response);
  }

  Instance instance_;
};

inline Instance instance(std::string id, std::uint32_t weight = 100) {
  Instance made;
  made.address = id + ":4080";
  made.id = std::move(id);
  made.transport = "tcp";
  made.weight = weight;
  return made;
}

/// Makes ScriptedEndpoints and remembers each as long as somebody owns it.
class ScriptedDialer final : public Dialer {
 public:
  Result<std::shared_ptr<Endpoint>> dial(const Instance& wanted) override {
    if (refuse.contains(wanted.id)) return Error(Errc::config, wanted.id + " is not wanted", Delivery::not_run);
    ++dials[wanted.id];
    auto endpoint = std::make_shared<ScriptedEndpoint>(wanted);
    made_[wanted.id] = endpoint;
    return std::shared_ptr<Endpoint>(std::move(endpoint));
  }
  /// The newest endpoint of this id, null when it was let go.
  std::shared_ptr<ScriptedEndpoint> endpoint(const std::string& id) { return made_[id].lock(); }

  std::map<std::string, int> dials;
  std::map<std::string, bool> refuse;

 private:
  std::map<std::string, std::weak_ptr<ScriptedEndpoint>> made_;
};

/// A registry whose watchers hear what the test says.
class ScriptedRegistry final : public Registry {
 public:
  Task<Result<std::unique_ptr<Lease>>> announce(const ServiceName&, Instance) override {
    return ready(Result<std::unique_ptr<Lease>>(Error(Errc::unimplemented, "scripted", Delivery::not_run)));
  }
  Result<std::unique_ptr<Watch>> watch(const Subscription& subscription, SnapshotObserver observer) override {
    if (subscription.service.group == refused_group)
      return Error(Errc::config, "group " + refused_group + " is not wanted", Delivery::not_run);
    subscriptions.push_back(subscription);
    auto hooked = hook(snapshots_, std::move(observer));
    groups_[last_key_] = subscription.service.group;
    return hooked;
  }
  Result<std::unique_ptr<Watch>> watch_document(const std::string& kind, const std::string&,
                                                DocumentObserver observer) override {
    document_kinds.push_back(kind);
    auto hooked = hook(documents_, std::move(observer));
    kinds_[last_key_] = kind;
    return hooked;
  }
  RegistryAdmin* admin() noexcept override { return nullptr; }

  void say(const Result<Snapshot>& news) { tell(snapshots_, news); }
  /// To those who watch its kind; an error to everybody.
  void say(const Result<Document>& news) {
    Watchers<DocumentObserver> concerned = documents_;
    if (news.ok())
      std::erase_if(concerned, [&](const auto& watcher) { return kinds_.at(watcher.first) != news->kind; });
    tell(concerned, news);
  }
  void say(std::uint64_t revision, std::vector<Instance> instances, std::vector<std::string> withdrawn = {}) {
    say(Result<Snapshot>(Snapshot{revision, std::move(instances), std::move(withdrawn)}));
  }
  /// The same to those only who watch this group of the service.
  void say_to(const std::string& group, std::uint64_t revision, std::vector<Instance> instances,
              std::vector<std::string> withdrawn = {}) {
    Watchers<SnapshotObserver> concerned = snapshots_;
    std::erase_if(concerned, [&](const auto& watcher) { return groups_.at(watcher.first) != group; });
    tell(concerned, Result<Snapshot>(Snapshot{revision, std::move(instances), std::move(withdrawn)}));
  }
  /// The groups that are watched, sorted, with a space behind each; one that is watched twice comes twice.
  std::string watched() const {
    std::vector<std::string> names;
    for (const auto& [key, observer] : snapshots_) names.push_back(groups_.at(key) + " ");
    std::sort(names.begin(), names.end());
    std::string all;
    for (const std::string& name : names) all += name;
    return all;
  }
  std::size_t watchers() const noexcept { return snapshots_.size() + documents_.size(); }

  std::vector<Subscription> subscriptions;
  std::vector<std::string> document_kinds;
  std::string refused_group = "refused";  ///< cannot be watched

 private:
  template <class Observer>
  using Watchers = std::map<int, Observer>;
  template <class Observer>
  struct Hooked final : Watch {
    Hooked(Watchers<Observer>& w, int k) : watchers(w), key(k) {}
    ~Hooked() override { watchers.erase(key); }
    Watchers<Observer>& watchers;
    int key;
  };
  template <class Observer>
  std::unique_ptr<Watch> hook(Watchers<Observer>& watchers, Observer observer) {
    watchers.emplace(++last_key_, std::move(observer));
    return std::make_unique<Hooked<Observer>>(watchers, last_key_);
  }
  template <class Observer, class News>
  static void tell(const Watchers<Observer>& watchers, const News& news) {
    const Watchers<Observer> now = watchers;
    for (const auto& [key, observer] : now) observer(news);
  }

  Watchers<SnapshotObserver> snapshots_;
  Watchers<DocumentObserver> documents_;
  std::map<int, std::string> groups_;  // of each watcher of snapshots there ever was
  std::map<int, std::string> kinds_;   // of each watcher of documents
  int last_key_ = 0;
};

/// Keeps the lines.
class ListLog final : public Log {
 public:
  struct Line {
    Level level;
    std::string cause;
    std::string text;
  };
  bool enabled(Level) const noexcept override { return true; }
  void write(Level level, std::string_view cause, std::string_view text) noexcept override {
    lines.push_back({level, std::string(cause), std::string(text)});
  }
  std::vector<Line> lines;
};

}  // namespace tenon::fake
