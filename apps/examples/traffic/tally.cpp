#include "tally.hpp"

#include <algorithm>

void Tally::made() {
  const std::lock_guard lock(mutex_);
  ++figures_.made;
}

void Tally::ended(const tenon::Result<demo::HelloReply>& reply, Duration took) {
  const std::lock_guard lock(mutex_);
  if (!reply.ok()) {
    ++figures_.failed;
    figures_.failure = std::string(tenon::to_string(reply.error().code())) + ": " + reply.error().text();
    return;
  }
  ++figures_.answered;
  figures_.slowest = std::max(figures_.slowest, took);
  // "north-1, Ada, from process 4711": the instance's name is its greeting.
  const std::string& message = reply->message();
  Instance& instance = figures_.instances[message.substr(0, message.find(','))];
  ++instance.answers;
  if (const std::size_t at = message.rfind("process "); at != std::string::npos) instance.process = message.substr(at);
}

Tally::Figures Tally::figures() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}
