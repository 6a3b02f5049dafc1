#pragma once
#include <memory>
#include <string>

#include "rendezvous.hpp"
#include "tenon/transport.hpp"

namespace tenon::mem {

/// A name being listened on.
class MemoryListener final : public Listener {
 public:
  explicit MemoryListener(std::shared_ptr<Doorway> doorway) noexcept : doorway_(std::move(doorway)) {}
  ~MemoryListener() override { close(); }

  Task<Result<std::unique_ptr<ByteStream>>> accept(Executor& home) override { return accept(doorway_, home); }
  void close() noexcept override;
  const std::string& address() const noexcept override { return doorway_->name(); }

 private:
  static Task<Result<std::unique_ptr<ByteStream>>> accept(std::shared_ptr<Doorway> doorway, Executor& home);

  const std::shared_ptr<Doorway> doorway_;
};

}  // namespace tenon::mem
