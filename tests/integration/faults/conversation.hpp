#pragma once
// A short conversation that may be disturbed, and what must hold of each of its calls whatever happened.

#include <atomic>
#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "support/test_apps.hpp"
#include "tenon/functions.hpp"
#include "tenon/plugin.hpp"

namespace tenon::test {

/// How a client speaks: protocol and serializer.
struct Tongue {
  const char* protocol = "tenon";
  const char* serializer = "protobuf";
};
inline void PrintTo(const Tongue& shown, std::ostream* out) { *out << shown.protocol; }

inline constexpr const char* counted_interface = "test.Counted";
inline constexpr std::size_t most_calls = 1u << 16;

/// Counts how often the handler of each call ran. Calls are told apart by a number that the caller chooses.
class CountedRuns {
 public:
  /// Methods: echo(number, text) -> text; nap(number, milliseconds) -> number. Not idempotent.
  std::shared_ptr<Service> service();
  int runs(std::int64_t number) const { return runs_[static_cast<std::size_t>(number) % most_calls]; }

 private:
  std::vector<std::atomic<int>> runs_ = std::vector<std::atomic<int>>(most_calls);
};

/// One call, as its caller saw it.
struct CallOutcome {
  std::int64_t number = 0;
  std::string sent;
  std::atomic<int> completions{0};
  bool ok = false;
  bool right = false;  ///< the reply is what was sent
  Errc code = Errc::ok;
  Delivery delivery = Delivery::not_run;
  std::string text;
};

/// Calls through one reference of a client.
class Conversation {
 public:
  using Echo = ClientFunction<std::string(std::int64_t, std::string)>;

  Conversation(App& client, std::atomic<std::int64_t>& numbers, const std::string& reference = "r")
      : echo_(client.reference(reference), "echo"), numbers_(numbers) {}
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  /// Begins a call for a text of that size.
  void begin(std::size_t size);
  /// Waits until every call begun has completed. False: one has not within `limit`.
  bool join(std::chrono::seconds limit = std::chrono::seconds(20)) const;
  /// A call alone, then `sizes` at once, then one alone again. False: a call did not complete.
  bool talk(const std::vector<std::size_t>& sizes);

  /// Every call completed, and no more than once.
  void expect_complete() const;
  /// Besides, every good call has its reply.
  void expect_right() const;
  /// Besides, once client and connections are gone and the server is idle: every good call
  /// ran once and has its reply; one that says not_run did not run, one that says ran did; none ran twice; none waited
  /// for its deadline.
  void expect_sound(const CountedRuns& counted) const;
  /// How many calls were answered.
  std::size_t good() const;
  const std::vector<std::unique_ptr<CallOutcome>>& calls() const noexcept { return calls_; }

 private:
  Echo echo_;
  std::atomic<std::int64_t>& numbers_;
  std::vector<std::unique_ptr<CallOutcome>> calls_;
};

/// The plugins that are linked into this program anyway, and `own`. Outlives the Apps that it is given to.
class BuiltIn {
 public:
  explicit BuiltIn(const Plugin& own);
  /// Makes them known to the App and loads `own`.
  void join(AppOptions& options) const;

 private:
  std::vector<const Plugin*> table_;
};

/// Every plugin that a tongue may need.
AppOptions fault_options(std::string application);
/// A server for `tongue`.
AppOptions fault_server_options(const Tongue& tongue, const std::string& address = "127.0.0.1:0");
ReferenceOptions fault_reference_options(const Tongue& tongue, const std::string& address);
/// A client for `tongue` with reference "r".
AppOptions fault_client_options(const Tongue& tongue, const std::string& address);

}  // namespace tenon::test
