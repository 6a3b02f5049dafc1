#pragma once
// A proxy on loopback that does to a connection what networks and peers do: late, slow, cut, silent, wrong.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace tenon::test {

/// How one direction, or a whole connection, ends.
enum class Cut {
  none,
  half,   ///< the receiver reads the end; the other direction goes on
  close,  ///< both ends read the end; what they still send is read and dropped
  reset,  ///< both ends get an RST (SO_LINGER 0); on unix sockets they read the end
};

/// What happens to the bytes of one direction of one connection. Positions count that direction's bytes, from 0.
struct Faults {
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
  /// Sizes of single sends, pseudo-random, small ones as often as large ones. most 0: what one read gave.
  struct Slices {
    std::size_t least = 1;
    std::size_t most = 0;
  };

  std::chrono::microseconds delay{0};
  std::chrono::microseconds jitter{0};  ///< at most that much more; the order stays
  std::uint64_t bytes_per_second = 0;   ///< 0: no limit
  Slices slices{};
  std::chrono::microseconds pause{0};  ///< between sends, so that the receiver sees them one by one
  std::uint64_t paused_bytes = nowhere;  ///< only in front of that many
  std::chrono::milliseconds gather{0};  ///< joins: waits until nothing has arrived for so long
  bool stall = false;                   ///< reads and sends nothing
  bool discard = false;                 ///< a black hole: reads, forwards nothing
  std::uint64_t cut_at = nowhere;       ///< after exactly that many bytes have been forwarded
  Cut cut = Cut::none;
  std::uint64_t corrupt_at = nowhere;  ///< that byte is changed
  unsigned char corrupt_bits = 0xff;   ///< which of its bits
  std::uint64_t repeat_at = nowhere;   ///< `repeat_size` bytes from there on are sent twice
  std::size_t repeat_size = 0;
};

/// Every byte alone; the first 2048 with a pause, so that the receiver reads them one by one.
inline Faults one_byte() {
  return {.slices = {1, 1}, .pause = std::chrono::microseconds(20), .paused_bytes = 2048};
}
inline Faults sliced(std::size_t most = 3000) { return {.slices = {1, most}}; }
inline Faults joined() { return {.gather = std::chrono::milliseconds(3)}; }

struct ConnectionFaults {
  enum class Entry {
    forward,
    silent,  ///< accepted, and nothing else: no byte is read or sent, nobody is connected to
    reset,   ///< accepted and reset at once
  };
  Faults to_server;
  Faults to_client;
  Entry entry = Entry::forward;
};
inline ConnectionFaults both(const Faults& faults) { return {faults, faults}; }

/// Listens on a loopback port (or a unix socket), and gives each accepted connection one of its own to `upstream`.
/// Connections count from 0. How many bytes it holds is bounded, so that slow receivers are felt by senders.
/// Threads: its own does the work; every function from any thread. Blocking: until that thread has done it.
class FaultProxy {
 public:
  /// One direction, all connections.
  struct Traffic {
    std::uint64_t bytes = 0;
    std::uint64_t sends = 0;
  };

  /// `upstream`: "127.0.0.1:PORT", "[::1]:PORT", or "unix:/path"; for the latter it listens on "unix:/path.proxy".
  /// Whatever is random follows from `seed` and the connection's number.
  /// Throws std::runtime_error when it cannot listen.
  explicit FaultProxy(const std::string& upstream, const ConnectionFaults& faults = {}, std::uint64_t seed = 1);
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;
  ~FaultProxy();

  const std::string& address() const noexcept;
  /// For every connection, open ones and those to come. Holds for the next byte once this returns.
  void set(const ConnectionFaults& faults);
  /// For connection `number` alone, open or to come, whatever set(faults) says later.
  void set(int number, const ConnectionFaults& faults);
  /// stall in both directions of all connections, or not; everything else stays. New connections are accepted.
  void silence(bool silent);
  /// Ends every open connection now, both directions (half is close here); what is held is dropped.
  void cut(Cut how);
  /// True: nobody listens at address() any more, connecting is refused. False: as before.
  void refuse(bool refusing);

  int accepted() const noexcept;
  /// Connections open now.
  std::size_t open() const;
  /// Exact: what a peer can have received is counted.
  Traffic to_server() const;
  Traffic to_client() const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace tenon::test
