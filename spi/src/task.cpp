#include "tenon/task.hpp"

#include <atomic>

namespace tenon::detail {

constinit thread_local StartLedger ledger __attribute__((tls_model("initial-exec"))) = {};

namespace {
constinit std::atomic<std::uint64_t> next_block{1};
}

void reserve_serials() noexcept {
  constexpr std::uint64_t block = std::uint64_t{1} << 32;
  ledger.next = next_block.fetch_add(1, std::memory_order_relaxed) * block;
  ledger.end = ledger.next + block;
}

}  // namespace tenon::detail
