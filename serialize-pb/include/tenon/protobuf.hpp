#pragma once
// Generated protobuf classes as messages: include this where message_type<T>() is asked for a generated class, and link
// tenon::protobuf. Messages known only at run time (generic calls) come from ProtobufTypes.
//
// Seen through Writer and Reader a generated message has its fields with their numbers and proto names; fields with
// presence are optional, map fields are maps, enumerations are open. google.protobuf.Duration is a message like any
// other here. Extensions and unknown fields are not shown (serializer "protobuf" keeps them).

#include <google/protobuf/message.h>

#include <atomic>
#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tenon/describe.hpp"
#include "tenon/described_type.hpp"
#include "tenon/method.hpp"
#include "tenon/type.hpp"

namespace tenon {

#define TENON_PROTOBUF __attribute__((visibility("default")))

/// The generated descriptor pool as the caller's library sees it; see tenon/plugin.hpp.
TENON_PROTOBUF const void* protobuf_pool() noexcept;

/// How many messages a method of a .proto exchanges: its `stream` words and option (tenon.one_way).
TENON_PROTOBUF Shape shape_of(const google::protobuf::MethodDescriptor& method);
/// The text of tenon/method.proto, for compilers of .proto files that import it.
TENON_PROTOBUF std::string method_proto_text();

namespace pb {

class MessageShape;

/// The MessageType of one generated class.
class TENON_PROTOBUF GeneratedType final : public MessageType {
 public:
  using Cast = google::protobuf::Message* (*)(void*) noexcept;
  using Prototype = const google::protobuf::Message& (*)();
  constexpr GeneratedType(Prototype prototype, Cast cast, const described::ObjectOps* object)
      : prototype_(prototype), cast_(cast), object_(object) {}
  ~GeneratedType() override;

  std::string_view name() const noexcept override;
  Form form() const noexcept override { return Form::message; }
  std::span<const Field> fields() const noexcept override;
  void* create() const override { return object_->create(); }
  void destroy(void* object) const noexcept override { object_->destroy(object); }
  void clear(void* object) const override { cast_(object)->Clear(); }
  void copy(const void* from, void* to) const override { object_->copy(from, to); }
  void move(void* from, void* to) const override { object_->move(from, to); }
  void write(const void* object, Writer& writer) const override;
  void read(void* object, Reader& reader) const override;
  google::protobuf::Message* as_protobuf(void* object) const noexcept override { return cast_(object); }
  const Field* find(std::uint32_t number) const noexcept override;
  const Field* find(std::string_view name) const noexcept override;

 private:
  const MessageShape& shape() const;
  Prototype prototype_;
  Cast cast_;
  const described::ObjectOps* object_;
  mutable std::atomic<const MessageShape*> shape_{nullptr};  // made when first walked
};

template <class T>
google::protobuf::Message* cast_to_message(void* object) noexcept {
  return static_cast<T*>(object);
}
template <class T>
const google::protobuf::Message& prototype_of() {
  return T::default_instance();
}

/// Objects of T that a thread has given back, cleared: a warm call allocates nothing. Large ones are not kept.
template <class T>
class Spares {
 public:
  Spares() = default;
  Spares(const Spares&) = delete;
  Spares& operator=(const Spares&) = delete;
  ~Spares() {
    while (count_ > 0) delete kept_[--count_];
  }
  static Spares& of_this_thread() {
    thread_local Spares spares;
    return spares;
  }
  T* take() { return count_ > 0 ? kept_[--count_] : new T; }
  void give(T* object) noexcept {
    if (count_ == room || object->ByteSizeLong() > largest) {
      delete object;
      return;
    }
    object->Clear();
    kept_[count_++] = object;
  }

 private:
  static constexpr unsigned room = 8;
  static constexpr std::size_t largest = 16u << 10;  // bytes when encoded
  T* kept_[room];
  unsigned count_ = 0;
};
template <class T>
constexpr described::ObjectOps object_ops() {
  described::ObjectOps ops = described::object_ops<T>;
  ops.create = []() -> void* { return Spares<T>::of_this_thread().take(); };
  ops.destroy = [](void* object) noexcept { Spares<T>::of_this_thread().give(static_cast<T*>(object)); };
  return ops;
}
template <class T>
inline constexpr described::ObjectOps generated_ops = object_ops<T>();

}  // namespace pb

template <class T>
requires std::derived_from<T, google::protobuf::Message>
struct MessageFamily<T> {
  static Eternal<pb::GeneratedType> holder;
};
template <class T>
requires std::derived_from<T, google::protobuf::Message>
constinit Eternal<pb::GeneratedType> MessageFamily<T>::holder{&pb::prototype_of<T>, &pb::cast_to_message<T>,
                                                              &pb::generated_ops<T>};

/// Message types made at run time from descriptors; their objects are google::protobuf::Message (dynamic ones, or
/// generated ones for descriptors of the generated pool).
/// Threads: any. Ownership: types, objects and descriptors live as long as this.
class TENON_PROTOBUF ProtobufTypes {
 public:
  ProtobufTypes();
  ~ProtobufTypes();
  ProtobufTypes(const ProtobufTypes&) = delete;
  ProtobufTypes& operator=(const ProtobufTypes&) = delete;

  /// Adds the files of a serialized google.protobuf.FileDescriptorSet (protoc --include_imports
  /// --descriptor_set_out), in any order. Blocking: no.
  /// Fails with: malformed (no descriptor set), invalid_argument (does not compile: the text has protoc's words).
  Result<void> add_files(std::string_view file_descriptor_set);
  /// The message with that full name ("demo.HelloRequest") in the files added; null: there is none.
  const MessageType* find(std::string_view full_name);
  /// The type for a descriptor of any pool, which must outlive this.
  const MessageType& of(const google::protobuf::Descriptor& descriptor);
  /// The pool of the files added.
  const google::protobuf::DescriptorPool& pool() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The run-time type of `descriptor`, owned by `types`.
TENON_PROTOBUF const MessageType& protobuf_type(const google::protobuf::Descriptor& descriptor, ProtobufTypes& types);

}  // namespace tenon
