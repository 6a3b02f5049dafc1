#include "client_log.hpp"

#include <array>
#include <utility>

namespace tenon::zk {

namespace {

constexpr std::size_t slots = 32;
constexpr std::string_view pacing = "Delaying connection";

// A C function that knows its ClientLog: the library's callback carries nothing that could say which it is.
struct Slot {
  std::mutex mutex;
  ClientLog* log = nullptr;
};
constinit std::array<Slot, slots> table;

template <std::size_t index>
void write_to(const char* message) {
  Slot& slot = table[index];
  const std::lock_guard lock(slot.mutex);
  if (slot.log && message) slot.log->write(message, ClientLog::Clock::now());
}
void write_nowhere(const char*) {}

template <std::size_t... index>
constexpr std::array<ClientLog::Function, sizeof...(index)> make_functions(std::index_sequence<index...>) {
  return {&write_to<index>...};
}
constexpr auto functions = make_functions(std::make_index_sequence<slots>());

}  // namespace

ClientLog::ClientLog(Log& log) : log_(&log), slot_(0) {
  for (; slot_ < slots; ++slot_) {
    const std::lock_guard lock(table[slot_].mutex);
    if (table[slot_].log) continue;
    table[slot_].log = this;
    break;
  }
}

ClientLog::~ClientLog() {
  if (slot_ == slots) return;
  const std::lock_guard lock(table[slot_].mutex);
  table[slot_].log = nullptr;
}

ClientLog::Function ClientLog::function() const noexcept { return slot_ == slots ? &write_nowhere : functions[slot_]; }

void ClientLog::detach() noexcept {
  const std::lock_guard lock(mutex_);
  log_ = nullptr;
}

// "2026-01-31 12:00:00,123:4711(0x7f…):ZOO_ERROR@handle_socket_error_msg@1781: Socket [127.0.0.1:2181] …"
void ClientLog::write(std::string_view message, Clock::time_point now) noexcept {
  constexpr std::string_view mark = ":ZOO_";
  const std::size_t begin = message.find(mark);
  if (begin != std::string_view::npos) message.remove_prefix(begin + mark.size());
  const bool grave = message.starts_with("ERROR") || message.starts_with("WARN");
  if (begin != std::string_view::npos && !grave) return;
  const std::size_t at = message.find('@');
  const std::size_t colon = message.find(": ");
  std::string_view place = "elsewhere";
  if (at != std::string_view::npos && colon != std::string_view::npos && at < colon) {
    place = message.substr(at + 1, colon - at - 1);
    message.remove_prefix(colon + 2);
  }

  if (message.starts_with(pacing)) return;  // what it tells of has just been said

  const std::lock_guard lock(mutex_);
  if (!log_) return;
  auto found = kinds_.find(place);
  if (found == kinds_.end()) {
    if (kinds_.size() == most_kinds) kinds_.clear();
    found = kinds_.emplace(place, Kind{}).first;
  }
  Kind& kind = found->second;
  if (now < kind.next) {
    ++kind.suppressed;
    return;
  }
  std::string text = "ZooKeeper's client: " + std::string(message);
  if (kind.suppressed > 0) text += " (and " + std::to_string(kind.suppressed) + " more like it)";
  kind = {now + pause, 0};
  log_->warn("zookeeper-client", text);
}

}  // namespace tenon::zk
