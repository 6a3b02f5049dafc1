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
  /// A serialized google.protobuf.FileDescriptorSet of the interface, for generic callers; empty: there is none.
  virtual std::string_view file_descriptor_set() const noexcept;
};

}  // namespace tenon
