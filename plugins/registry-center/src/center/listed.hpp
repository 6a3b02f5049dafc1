#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "messages.hpp"
#include "names.hpp"
#include "operator_state.hpp"
#include "tenon/clock.hpp"
#include "watcher.hpp"

namespace tenon::center {

/// Who announces and watches. Known from open() until close(), or a lease of silence.
struct Client {
  std::string id;
  std::string secret;
  std::string name;  ///< who it says it is; empty: it does not
  TimePoint seen;    ///< last sign of life
  std::set<std::pair<Listed*, std::string>> instances;
  std::set<Watcher*> watchers;
};

/// One instance that is announced.
struct Held {
  Instance facts;  ///< as its provider says
  Client* owner = nullptr;
  std::size_t bytes = 0;           ///< in a list
  const Override* laid = nullptr;  ///< by an operator; null: nothing
  std::uint64_t updates = 0;       ///< by its provider
};

/// One service: what is announced of it and who watches it.
struct Listed {
  explicit Listed(ServiceName service) : name(std::move(service)) {}

  const ServiceName name;
  std::uint64_t revision = 0;
  std::map<std::string, Held> instances;       // by id
  std::map<std::string, TimePoint> withdrawn;  // ids, and until when they are shown
  std::set<Watcher*> watchers;
  std::size_t bytes = 0;             // of its list
  std::shared_ptr<const List> list;  // of this revision; null: not made yet

  // Of Pushes.
  enum class Pace { idle, starting, pausing };
  Pace pace = Pace::idle;
  bool stale = false;  // changed since its watchers were told
  TimePoint pause_ends;
};

}  // namespace tenon::center
