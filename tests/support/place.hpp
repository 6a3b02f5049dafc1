#pragma once
// The places where Apps of tests meet: registries with a server of their own, which tests start, pause and kill. One
// more: a class in a file of its own, and a line in places().

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "support/store.hpp"

namespace tenon::test {

/// One server, with data of its own. Threads: one. Ended, with its data, by the destructor.
class Place {
 public:
  Place() = default;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  virtual ~Place() = default;

  /// Starts it on the data that are there; it answers when this returns. Throws std::runtime_error.
  virtual void start() = 0;
  /// Ends it as a power cut would.
  virtual void kill() = 0;
  /// Its data are gone. REQUIRES: not running.
  virtual void wipe() = 0;
  /// It does nothing more when this returns, until resume().
  virtual void pause() = 0;
  virtual void resume() = 0;

  /// Where it is, or will be once it is started: the same all the time.
  virtual std::string address() const = 0;
  /// How an App reaches it, there or through what stands at `address`.
  virtual Store store(const std::string& address, std::chrono::milliseconds connect_timeout) const = 0;

  /// By hand, past every registry. Whose instance of the service stands at that address, and since when; "": none.
  virtual std::string standing(const ServiceName& service, const std::string& address) = 0;
  /// Another text each time when an instance of the service has come or gone, however shortly.
  virtual std::string changes(const ServiceName& service) = 0;
};

struct PlaceKind {
  std::string name;
  /// Not running. After `lease` of silence an instance is gone; 1 s to 10 s.
  std::function<std::unique_ptr<Place>(std::chrono::milliseconds lease)> make;
  /// Of those who have died, too, over a restart on its data. Nothing: if they were alive a short time ago.
  std::optional<bool> keeps_instances;
  bool operators_word_is_kept;  ///< by the providers, when the data are lost
  bool fetched = false;         ///< its program is got by a slow fixture; without it tests are skipped
  std::chrono::milliseconds settles{0};  ///< for so long after a start nobody silent is dropped
};

PlaceKind center_place();
PlaceKind zookeeper_place();  ///< where ZooKeeper is installed
PlaceKind consul_place();
/// Without a server: start() does nothing, and what needs one throws std::logic_error.
PlaceKind memory_place();

/// All that have a server.
std::vector<PlaceKind> places();
/// Those of them that are there at once, and those that are fetched.
std::vector<PlaceKind> ready_places();
std::vector<PlaceKind> fetched_places();

inline void PrintTo(const PlaceKind& shown, std::ostream* out) { *out << shown.name; }
inline std::string place_name(const testing::TestParamInfo<PlaceKind>& info) { return info.param.name; }

}  // namespace tenon::test
