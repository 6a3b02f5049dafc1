#pragma once
// Clients that speak to a center call by call, as src/messages.hpp of registry-center says, without a registry.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "client/calls.hpp"
#include "histogram.hpp"
#include "tenon/app.hpp"

namespace bench {

/// One connection to a center, of an App of its own. Threads: any.
class Caller {
 public:
  Caller(const std::string& plugins, const std::string& center);

  bool good() const noexcept { return calls_ != nullptr; }
  const tenon::center::Calls& calls() const noexcept { return *calls_; }
  /// What the center is doing; Fails with: what the call does.
  tenon::Result<tenon::center::State> state() const;

 private:
  std::unique_ptr<tenon::App> app_;
  std::shared_ptr<tenon::Reference> reference_;
  std::unique_ptr<tenon::center::Calls> calls_;
};

/// A key nobody else has.
tenon::center::ClientKey new_key();
/// The options of a stream that may last long.
tenon::CallOptions long_lasting();

/// A provider and a subscriber that are back as soon as the center is, and how long a change takes from the one to the
/// other: what the center itself needs, whoever else comes back. Two threads of its own, until stop().
class Probe {
 public:
  Probe(const std::string& plugins, const std::string& center);
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  ~Probe() { stop(); }

  void stop();
  /// Since the last time this was asked, nanoseconds.
  Histogram latency();

 private:
  void provide();
  void subscribe();

  const Caller provider_;
  const Caller subscriber_;
  const tenon::center::ClientKey providers_;
  const tenon::center::ClientKey subscribers_;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  Histogram latency_;
  std::thread providing_;
  std::thread subscribing_;
};

}  // namespace bench
