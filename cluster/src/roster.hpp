#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arrival.hpp"
#include "known_set.hpp"
#include "view.hpp"

namespace tenon::cluster {

/// Settings of cluster "default".
struct ClusterOptions {
  Duration empty_protection = std::chrono::seconds(60);
  std::uint32_t retry_percent = 20;
  std::uint32_t retries_per_second = 10;
};
BOOST_DESCRIBE_STRUCT(ClusterOptions, (), (empty_protection, retry_percent, retries_per_second))

/// Follows the registries of one reference and keeps the current view: who the members are and who may serve what.
/// Calls that wait for the first view may outlive the cluster: they hold the roster.
/// Threads: the reference's executor; the registries call back there, too.
class Roster : public std::enable_shared_from_this<Roster> {
 public:
  Roster(ClusterParts parts, const ClusterOptions& options);
  ~Roster();

  /// Subscribes at every registry. Fails with: what a registry's watch() fails with.
  Result<void> watch();
  /// Ends the subscriptions and lets go of the members; waiting calls end.
  void close();

  Common& common() noexcept { return *common_; }
  /// The current view; null before the first snapshot and after close().
  View* view() const noexcept { return view_ ? &*view_ : nullptr; }
  bool closed() const noexcept { return closed_; }
  Arrivals& first_view() noexcept { return first_view_; }

 private:
  struct Believe : Alarm {
    Roster* roster = nullptr;
  };
  using DocumentName = std::pair<std::size_t, std::string>;  // registry, kind

  void on_snapshot(std::size_t registry, const Result<Snapshot>& snapshot);
  void on_document(std::size_t registry, const std::string& kind, const Result<Document>& document);
  void believe();
  void arm_doubt();
  /// Makes the view for what is known now, unless it is the same as before.
  void refresh();
  void rebuild(std::shared_ptr<const Members> members);
  std::vector<Instance> joined() const;
  std::shared_ptr<Endpoint> keep_or_dial(const Instance& instance);
  /// Null, with an error logged, when the router has no table for these members.
  std::unique_ptr<Router::Table> compile(const Members& members);
  std::vector<Document> documents(const std::map<DocumentName, Document>& chosen) const;

  std::shared_ptr<Common> common_;
  std::vector<KnownSet> known_;
  std::map<DocumentName, Document> documents_;       // as received
  std::map<DocumentName, Document> good_documents_;  // as last compiled
  ViewHold view_;
  Arrivals first_view_;
  Believe believe_;
  bool closed_ = false;
  std::vector<std::unique_ptr<Watch>> watches_;  // last: they end first
};

}  // namespace tenon::cluster

template <>
struct tenon::Describe<tenon::cluster::ClusterOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("empty_protection", "how long an unexplained empty list of instances is not believed; 0: at once"),
      tenon::member("retry_percent", "retry budget: attempts that may be added, in percent of the calls"),
      tenon::member("retries_per_second", "retry budget: attempts that may be added however few the calls"));
};
