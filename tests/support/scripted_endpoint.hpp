#pragma once
// An endpoint whose attempts end as the test says, and a dialer that makes them.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tenon/cluster.hpp"

namespace tenon::test {

/// Threads: the test's.
class ScriptedEndpoint final : public Endpoint {
 public:
  using Answer = std::function<Task<Result<Response>>(Request&)>;

  explicit ScriptedEndpoint(Instance instance) : instance_(std::move(instance)) {}
  explicit ScriptedEndpoint(const std::string& id, std::uint32_t weight = 100) {
    instance_.id = instance_.address = id;
    instance_.weight = weight;
  }

  Task<Result<Response>> call(Request& request) override {
    ++calls;
    attempts.push_back(request.info ? request.info->attempt : 0);
    if (!script.empty()) {
      Answer next = std::move(script.front());
      script.pop_front();
      return next(request);
    }
    return always ? always(request) : ready<Result<Response>>(Response());
  }
  Health health() const noexcept override { return state; }
  const Instance& instance() const noexcept override { return instance_; }
  const Stats& stats() const noexcept override { return stats_; }

  /// The next attempts, in order; then `always`; without it, success.
  std::deque<Answer> script;
  Answer always;
  Health state = Health::open;
  std::size_t calls = 0;
  std::vector<std::uint32_t> attempts;  ///< CallInfo::attempt of each

 private:
  Instance instance_;
  Stats stats_;
};

inline ScriptedEndpoint::Answer fails(Errc code, Delivery delivery, Advice advice = Advice::none,
                                      const std::string& text = "scripted failure") {
  return [=](Request&) { return ready<Result<Response>>(Error(code, text, delivery, advice)); };
}

/// Keeps what it made, so that tests can script it, and sees when the cluster lets go of it.
class ScriptedDialer final : public Dialer {
 public:
  Result<std::shared_ptr<Endpoint>> dial(const Instance& instance) override {
    if (instance.transport == "no-such-transport")
      return Error(Errc::config, "unknown transport 'no-such-transport'", Delivery::not_run);
    ++dials;
    auto endpoint = std::make_shared<ScriptedEndpoint>(instance);
    made[instance.id] = endpoint;
    return std::shared_ptr<Endpoint>(std::move(endpoint));
  }
  /// The latest endpoint for an id; null when nobody owns it any more.
  std::shared_ptr<ScriptedEndpoint> find(const std::string& id) { return made[id].lock(); }

  std::size_t dials = 0;
  std::map<std::string, std::weak_ptr<ScriptedEndpoint>> made;
};

/// A registry that says what the test says, when it says it.
class ScriptedRegistry final : public Registry {
 public:
  Task<Result<std::unique_ptr<Lease>>> announce(const ServiceName&, Instance) override {
    return ready<Result<std::unique_ptr<Lease>>>(Error(Errc::unimplemented, "not in this test"));
  }
  Result<std::unique_ptr<Watch>> watch(const Subscription&, SnapshotObserver observer) override {
    snapshots_ = std::move(observer);
    return std::unique_ptr<Watch>(new Ended(snapshots_));
  }
  Result<std::unique_ptr<Watch>> watch_document(const std::string&, const std::string&,
                                                DocumentObserver observer) override {
    documents_ = std::move(observer);
    return std::unique_ptr<Watch>(new EndedDocument(documents_));
  }
  RegistryAdmin* admin() noexcept override { return nullptr; }

  void say(std::uint64_t revision, std::vector<Instance> instances, std::vector<std::string> withdrawn = {}) {
    Snapshot snapshot;
    snapshot.revision = revision;
    snapshot.instances = std::move(instances);
    snapshot.withdrawn = std::move(withdrawn);
    if (snapshots_) snapshots_(Result<Snapshot>(std::move(snapshot)));
  }
  void fail(const std::string& text) {
    if (snapshots_) snapshots_(Error(Errc::unavailable, text));
  }
  void document(const std::string& kind, const std::string& text) {
    Document document;
    document.kind = kind;
    document.text = text;
    if (documents_) documents_(Result<Document>(std::move(document)));
  }
  bool watched() const { return snapshots_ != nullptr; }

 private:
  struct Ended final : Watch {
    explicit Ended(SnapshotObserver& o) : observer(o) {}
    ~Ended() override { observer = nullptr; }
    SnapshotObserver& observer;
  };
  struct EndedDocument final : Watch {
    explicit EndedDocument(DocumentObserver& o) : observer(o) {}
    ~EndedDocument() override { observer = nullptr; }
    DocumentObserver& observer;
  };
  SnapshotObserver snapshots_;
  DocumentObserver documents_;
};

inline Instance instance(const std::string& id, std::uint32_t weight = 100, const std::string& address = "") {
  Instance made;
  made.id = id;
  made.address = address.empty() ? id + ":80" : address;
  made.weight = weight;
  return made;
}

}  // namespace tenon::test
