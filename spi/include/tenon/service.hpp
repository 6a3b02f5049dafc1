#pragma once
#include <span>
#include <string_view>

#include "tenon/call.hpp"
#include "tenon/method.hpp"

namespace tenon {

/// A business implementation. Written by hand rarely: protoc-gen-tenon and tenon::Functions make one. As a plugin kind
/// it lets a .so carry services that a stock host (`tenon serve`) runs; its catalog name is the interface name.
/// Threads: call() concurrently from every io thread, or from the threads of the pool the manifest gives it.
class TENON_SPI Service {
 public:
  static constexpr std::string_view kind = "service";
  virtual ~Service();
  /// "demo.Greeter".
  virtual std::string_view interface() const noexcept = 0;
  /// Constant for the service's life.
  virtual std::span<const Method> methods() const noexcept = 0;
  /// Runs method request.target->index. The payload may still be encoded; decoding it is the service's first act.
  /// Exceptions become error replies (internal, without a stack).
  virtual Task<Result<Response>> call(Request& request) = 0;
  /// Called once when the server listens and before anybody is told of it: fill caches, open what calls will need. Once
  /// it has ended, requests come. When it fails, so does the start of the application.
  /// Threads: the application's first io thread. Blocking: it may, others wait for it.
  virtual Task<Result<void>> warm_up();
  /// Told once, when the server has begun to drain: what waits for others (a stream that tells of changes) ends now,
  /// else it takes the whole of server.grace. Threads: the one that stops the application. Blocking: no.
  virtual void draining() noexcept;
  /// A serialized google.protobuf.FileDescriptorSet of the interface, for generic callers; empty: there is none.
  virtual std::string_view file_descriptor_set() const noexcept;
};

}  // namespace tenon
