#pragma once
// Which instance, how many attempts: what stands between a call and its endpoints.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/call.hpp"
#include "tenon/log.hpp"
#include "tenon/registry.hpp"

namespace tenon {

/// Live figures of one endpoint, kept across snapshots. Written by core on the endpoint's executor.
///
/// A fault is an error that speaks against the instance: connection lost, no reply in time, a defect (internal,
/// malformed). None is what it refuses (overloaded, going away, unauthenticated …), what its business code answers,
/// what the caller cancelled, and a reply that was late because this process did not get to reading it.
struct Stats {
  std::uint32_t in_flight = 0;
  std::uint32_t consecutive_faults = 0;  ///< since the last reply that was none
  std::uint64_t calls = 0;
  std::uint64_t errors = 0;  ///< of any kind
  std::uint64_t faults = 0;
  double latency_ewma_us = 0;  ///< of successes; half-life about 16 calls
  /// Of successes and faults: rises to each slower one at once, then decays with a time constant of 10 s (Finagle's
  /// peak EWMA). As of `peak_at`.
  double peak_latency_us = 0;
  TimePoint peak_at{};
};

/// An instance we hold connections to. Its call() is one attempt: attempt filters, encode, connection.
/// Threads: its executor.
class TENON_SPI Endpoint : public Invoker {
 public:
  ~Endpoint() override;
  virtual const Instance& instance() const noexcept = 0;
  virtual const Stats& stats() const noexcept = 0;
  /// How much traffic it is to get, in hundredths of Instance::weight (100 gives 10 000): less while it is new or
  /// recovers, 0 when it takes none. Never above weight_limit. Pickers read it when they are made, and are made anew
  /// when it has changed.
  virtual std::uint32_t effective_weight() const noexcept;
  static constexpr std::uint32_t weight_limit = 100'000'000;
  /// It was found to be an outlier and gets no calls until then, nor after that until one has tried it: its health() is
  /// closed meanwhile. TimePoint(): it is none.
  virtual TimePoint ejected_until() const noexcept;
};

/// Makes endpoints. The cluster never sees a socket or a serializer. Destroying the last owner of an endpoint drains
/// and closes its connections and ends its reconnecting.
class TENON_SPI Dialer {
 public:
  virtual ~Dialer();
  /// Fails with: config (unknown transport or protocol of the instance).
  virtual Result<std::shared_ptr<Endpoint>> dial(const Instance& instance) = 0;
};

/// The endpoints to choose from: an immutable set.
using Members = std::vector<std::shared_ptr<Endpoint>>;

/// Endpoints already used by this call: positions in the Members the picker was made over (the first 64).
using Tried = std::uint64_t;

/// Whom a pick may choose. The cluster asks again with less demanding ones when a picker finds nobody: first those that
/// can take calls and were not tried, then those that can, then everybody.
class Eligible {
 public:
  enum class Closed : bool { no, too };
  Eligible(const Members& members, Tried tried, Closed closed) noexcept
      : members_(members), tried_(tried), closed_(closed) {}
  bool operator()(std::size_t position) const noexcept {
    if (position < 64 && (tried_ >> position & 1) != 0) return false;
    return closed_ == Closed::too || members_[position]->health() != Health::closed;
  }

 private:
  const Members& members_;
  const Tried tried_;
  const Closed closed_;
};

/// Chooses one endpoint. Made over one immutable set of members and their effective weights; replaced whole when
/// either changes.
/// Threads: its reference's executor. Blocking: never; a few nanoseconds.
class TENON_SPI Picker {
 public:
  virtual ~Picker();
  /// The position of a member that is eligible and has a weight; -1: there is none.
  virtual int pick(const Request& request, const Eligible& eligible) noexcept = 0;
};

/// A way of choosing. Threads: const and concurrent.
class TENON_SPI Balancer {
 public:
  static constexpr std::string_view kind = "balancer";
  virtual ~Balancer();
  /// `members` outlives the picker.
  virtual std::unique_ptr<Picker> over(const Members& members) const = 0;
};

/// Where an HA strategy gets endpoints from. What one call has tried is kept in its Request, so that this object serves
/// every call and costs none of them anything. Outlives the calls.
class TENON_SPI Candidates {
 public:
  virtual ~Candidates();
  /// The next endpoint to try, and remembers it as tried; null when there is none. Valid while its call is in flight.
  /// One that was tried before comes again only when no other can take calls.
  virtual Endpoint* next(Request& request) noexcept = 0;
  /// Everybody who may serve this request, able to or not, in no order. As next() says.
  virtual std::vector<Endpoint*> all(Request& request) = 0;
  /// How many members may serve this request.
  virtual std::size_t size(const Request& request) const noexcept = 0;
  /// May one more attempt be made? Takes a token from the reference's retry budget (re-sending what has not run costs
  /// budget, too).
  virtual bool spend_retry() noexcept = 0;
  /// The error for "no endpoint": names the service, how many were known and why none would do.
  virtual Error none_left(const Request& request) const = 0;
};

/// The same request for an attempt beside others of its call: contents are borrowed from it, so it must live until the
/// attempt has ended; the answer is the copy's own (`reply` is null: a fresh payload). Point `cancel` at something that
/// ends with the call's own. Who chooses its endpoint asks with the original. REQUIRES: no messages.
TENON_SPI Request parallel_attempt(const Request& request);

/// Something counted, by the name operators see: {"queued", 3}.
struct Count {
  std::string name;
  std::uint64_t value = 0;
};
BOOST_DESCRIBE_STRUCT(Count, (), (name, value))

/// How many attempts, and when. failover, failfast, …
/// A strategy that only acts on failures gives the endpoint's task away with Task::rescue(), which costs nothing when
/// the first attempt succeeds.
/// Threads: the reference's executor. Ownership: request and candidates live until the task has ended.
class TENON_SPI HaStrategy {
 public:
  static constexpr std::string_view kind = "ha";
  virtual ~HaStrategy();
  virtual Task<Result<Response>> call(Request& request, Candidates& candidates) = 0;
  /// `candidates` is about to go: what is still done on its behalf for calls that have ended stops, and does not touch
  /// it again.
  virtual void release(Candidates& /*candidates*/) noexcept {}
  /// What it counts since it was made.
  virtual std::vector<Count> counts() const { return {}; }
};

/// Chooses which subset of the members may serve a request: traffic commands and routing rules are both this.
class TENON_SPI Router {
 public:
  static constexpr std::string_view kind = "router";
  /// A compiled decision over one set of members. Threads: the reference's executor.
  class TENON_SPI Table {
   public:
    virtual ~Table();
    /// Subsets, fixed when compiled; each gets its own picker.
    virtual std::span<const Members> subsets() const noexcept = 0;
    /// Index into subsets(), or -1: nobody may serve it. Asked once for a call, and once more when the members have
    /// changed under it: it may count.
    virtual int choose(const Request& request) const noexcept = 0;
    /// Where a call goes on when everybody in `subset` has been tried; -1: nowhere. Following it from any subset visits
    /// each other one at most once before it comes back. Counts nothing.
    virtual int next(const Request& /*request*/, int /*subset*/) const noexcept { return -1; }
    /// Why this table lets `member`, one of those it was compiled over, serve such a request, or does not: a sentence
    /// for people, what decides first. Counts nothing. Empty: nothing to say.
    virtual std::string explain(const Request& /*request*/, const Endpoint& /*member*/) const { return {}; }
    /// What of the documents has no effect, and why: for people. Valid as long as the table.
    virtual std::span<const std::string> complaints() const noexcept { return {}; }
  };
  virtual ~Router();
  /// This router for one service, asked for once before anything else; null: this one serves any service.
  virtual std::shared_ptr<Router> for_service(const ServiceName& /*service*/) { return nullptr; }
  /// The documents it wants to be compiled with ("command", …).
  virtual std::vector<std::string> document_kinds() const = 0;
  /// The groups of the service, besides its own, whose instances it wants among the members with these documents. They
  /// are subscribed as long as it names them. Fails with: as compile().
  virtual Result<std::vector<std::string>> groups(const std::vector<Document>& /*documents*/) {
    return std::vector<std::string>();
  }
  /// `members` are those of the service's own group, then those of groups(); Instance::group says which.
  /// Fails with: invalid_argument, malformed, too_large (a bad document), unavailable (nobody would be left): the
  /// documents before stay in force, and when those will not do either, none.
  virtual Result<std::unique_ptr<Table>> compile(const Members& members, const std::vector<Document>& documents) = 0;
};

/// A registry, and what the manifest calls it.
struct NamedRegistry {
  std::string name;
  std::shared_ptr<Registry> registry;
};

/// What a cluster is made of. All outlive it.
struct ClusterParts {
  ServiceName service;
  std::string subscriber;
  std::vector<NamedRegistry> registries;
  /// Where it may keep what registries said last, for a start without them; an existing folder. Empty: nowhere.
  std::string cache;
  std::vector<std::shared_ptr<Router>> routers;  ///< each narrows what the one before it chose; empty: none
  std::shared_ptr<Balancer> balancer;
  std::shared_ptr<HaStrategy> ha;
  std::shared_ptr<Dialer> dialer;
  Executor* executor = nullptr;    ///< where calls of this reference run
  Log* log = nullptr;
};

/// A reference's endpoints as one invoker.
/// Threads: the reference's executor.
class TENON_SPI ClusterInvoker : public Invoker {
 public:
  ~ClusterInvoker() override;
  /// At every instance at once, whatever rules say. One attempt each. Empty: none is known, nor became so before the
  /// deadline.
  virtual Task<Broadcast> each(Request& request) = 0;
  /// Completes when every registry has answered, or a good enough list is known without them, and, with eager
  /// connecting, one endpoint is open; or at `deadline`.
  virtual Task<Result<void>> ready(TimePoint deadline) = 0;
  virtual std::shared_ptr<const Members> members() const noexcept = 0;
  /// What would become of `request` at each known instance, in the order of members(), and why: routing, weight,
  /// health. Counts nothing, sends nothing.
  struct Verdict {
    std::string instance;
    std::string address;
    std::string group;
    bool eligible = false;
    std::string why;
  };
  virtual std::vector<Verdict> explain(const Request& request) const = 0;
  /// Since it was joined: retries made and refused by the budget, ejections; then what its HA strategy counts.
  virtual std::vector<Count> counts() const = 0;
};
BOOST_DESCRIBE_STRUCT(ClusterInvoker::Verdict, (), (instance, address, group, eligible, why))

/// Joins registry, router, balancer and HA strategy.
class TENON_SPI Cluster {
 public:
  static constexpr std::string_view kind = "cluster";
  virtual ~Cluster();
  virtual Result<std::unique_ptr<ClusterInvoker>> join(ClusterParts parts) = 0;
};

}  // namespace tenon
