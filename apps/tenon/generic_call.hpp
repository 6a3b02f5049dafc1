#pragma once
// Calls of methods known only at run time, and what a reference knows of its instances.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tenon/reference.hpp"
#include "tenon/schema.hpp"
#include "tenon/serializer.hpp"

namespace tenon::cli {

/// A default object of a MessageType.
class Object {
 public:
  explicit Object(const MessageType& type) : type_(type), object_(type.create()) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() { type_.destroy(object_); }
  const MessageType& type() const noexcept { return type_; }
  void* get() const noexcept { return object_; }

 private:
  const MessageType& type_;
  void* object_;
};

/// Asks the server behind `reference` what `interface` looks like (service tenon.Descriptors, which every Tenon server
/// offers). Blocking: a call. Fails with: not_found, or as any call.
Result<SchemaService> describe_remote(Reference& reference, const std::string& interface, const CallOptions& options);

/// One blocking call; `reply` is an object of method.output. Threads: no io thread.
Result<void> call_method(Reference& reference, const Method& method, const Object& request, Object& reply,
                         const CallOptions& options);

/// One blocking server_stream: every message is put into `reply` and shown; stops early when `show` says false.
/// Threads: no io thread.
Result<void> read_stream(std::shared_ptr<Reference> reference, const Method& method, const Object& request,
                         Object& reply, const CallOptions& options, const std::function<Result<bool>()>& show);

/// Ids of the instances that `reference` knows, once it has heard of them. REQUIRES: the reference has no filters.
/// Blocking: at most `patience`. Fails with: unavailable, deadline_exceeded, unimplemented (its cluster does not tell).
Result<std::vector<std::string>> instances_of(Reference& reference, Duration patience);

}  // namespace tenon::cli
