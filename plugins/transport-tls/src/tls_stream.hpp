#pragma once
#include <memory>

#include "engine.hpp"
#include "tenon/clock.hpp"
#include "tenon/transport.hpp"

namespace tenon::tls {

/// A connection after its handshake.
/// Threads: home's; may be made on another one before anything is called.
class TlsStream final : public ByteStream {
 public:
  TlsStream(std::unique_ptr<Engine> engine, Executor& home);
  /// Says close_notify; what the socket does not take at once is sent in the background for a few seconds.
  ~TlsStream() override;

  IoResult try_read(char* into, std::size_t size) noexcept override;
  IoResult try_write(std::span<const std::string_view> parts) noexcept override;
  void wait_readable(Completion done) noexcept override;
  void wait_writable(Completion done) noexcept override;
  void finish() noexcept override;
  const PeerInfo& info() const noexcept override { return engine_->info(); }
  std::string_view negotiated() const noexcept override { return engine_->negotiated(); }

 private:
  struct Nudge;
  struct Idle : Alarm {
    TlsStream* stream = nullptr;
  };
  void watch_input() noexcept;
  void on_input() noexcept;
  void on_room() noexcept;
  /// Sees to it that what is unsent leaves, asked or not.
  void await_room() noexcept;
  void touch() noexcept;
  void rest();

  std::unique_ptr<Engine> engine_;
  Executor& home_;
  Nudge* nudge_;  // shared with home_'s queue
  Completion reader_;
  Completion writer_;
  Idle idle_;
  bool used_ = false;     // since idle_ fired
  bool reading_ = false;  // waits for the socket
  bool writing_ = false;
  bool finishing_ = false;
};

}  // namespace tenon::tls
