#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/descriptor_database.h>
#include <google/protobuf/dynamic_message.h>

#include <map>
#include <mutex>

#include "message_shape.hpp"
#include "tenon/protobuf.hpp"

namespace tenon {

const void* protobuf_pool() noexcept { return google::protobuf::DescriptorPool::generated_pool(); }

namespace pb {

using google::protobuf::Descriptor;
using google::protobuf::Message;

namespace {

// Objects are Message; used for descriptors met at run time and for messages inside generated ones.
class ReflectedType final : public MessageType {
 public:
  ReflectedType(const Descriptor& descriptor, const Message& prototype, MessageShape::TypeOf type_of)
      : descriptor_(descriptor), prototype_(prototype), type_of_(std::move(type_of)) {}

  std::string_view name() const noexcept override { return descriptor_.full_name(); }
  Form form() const noexcept override { return Form::message; }
  std::span<const Field> fields() const noexcept override { return shape().fields(); }
  void* create() const override { return prototype_.New(); }
  void destroy(void* object) const noexcept override { delete message(object); }
  void clear(void* object) const override { message(object)->Clear(); }
  void copy(const void* from, void* to) const override { message(to)->CopyFrom(*static_cast<const Message*>(from)); }
  void move(void* from, void* to) const override { prototype_.GetReflection()->Swap(message(from), message(to)); }
  void write(const void* object, Writer& writer) const override {
    shape().write(*static_cast<const Message*>(object), *this, writer);
  }
  void read(void* object, Reader& reader) const override { shape().read(*message(object), *this, reader); }
  Message* as_protobuf(void* object) const noexcept override { return message(object); }
  const Field* find(std::uint32_t number) const noexcept override { return shape().find(number); }
  const Field* find(std::string_view name) const noexcept override { return shape().find(name); }

 private:
  static Message* message(void* object) noexcept { return static_cast<Message*>(object); }
  // Made when first walked, so that recursive messages need no special care.
  const MessageShape& shape() const {
    std::call_once(once_, [this] { shape_ = std::make_unique<MessageShape>(descriptor_, type_of_); });
    return *shape_;
  }
  const Descriptor& descriptor_;
  const Message& prototype_;
  MessageShape::TypeOf type_of_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<MessageShape> shape_;
};

// Collects what the descriptor pool complains about.
class Complaints final : public google::protobuf::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& file, const std::string& element, const Message*, ErrorLocation,
                const std::string& what) override {
    if (text_.empty()) text_ = file + ": " + element + ": " + what;
  }
  std::string take() { return std::exchange(text_, {}); }

 private:
  std::string text_;
};

}  // namespace
}  // namespace pb

struct ProtobufTypes::State {
  google::protobuf::SimpleDescriptorDatabase database;
  pb::Complaints complaints;
  google::protobuf::DescriptorPool pool{&database, &complaints};
  google::protobuf::DynamicMessageFactory factory;
  std::mutex mutex;
  std::map<const google::protobuf::Descriptor*, std::unique_ptr<pb::ReflectedType>> types;  // guarded by mutex
};

ProtobufTypes::ProtobufTypes() : state_(std::make_unique<State>()) {}
ProtobufTypes::~ProtobufTypes() = default;

const google::protobuf::DescriptorPool& ProtobufTypes::pool() const noexcept { return state_->pool; }

Result<void> ProtobufTypes::add_files(std::string_view file_descriptor_set) {
  google::protobuf::FileDescriptorSet set;
  if (file_descriptor_set.size() > INT32_MAX ||
      !set.ParseFromArray(file_descriptor_set.data(), static_cast<int>(file_descriptor_set.size())))
    return Error(Errc::malformed, "the bytes are no google.protobuf.FileDescriptorSet");
  const std::lock_guard lock(state_->mutex);
  for (const google::protobuf::FileDescriptorProto& file : set.file()) {
    google::protobuf::FileDescriptorProto known;
    if (state_->database.FindFileByName(file.name(), &known)) continue;
    if (!state_->database.Add(file))
      return Error(Errc::invalid_argument, file.name() + " defines a name that another file has already defined");
  }
  for (const google::protobuf::FileDescriptorProto& file : set.file()) {
    if (state_->pool.FindFileByName(file.name())) continue;
    const std::string why = state_->complaints.take();
    return Error(Errc::invalid_argument,
                 file.name() + " cannot be used: " + (why.empty() ? "a file it imports is missing" : why));
  }
  return {};
}

const MessageType* ProtobufTypes::find(std::string_view full_name) {
  const google::protobuf::Descriptor* descriptor = state_->pool.FindMessageTypeByName(std::string(full_name));
  return descriptor ? &of(*descriptor) : nullptr;
}

const MessageType& ProtobufTypes::of(const google::protobuf::Descriptor& descriptor) {
  const std::lock_guard lock(state_->mutex);
  std::unique_ptr<pb::ReflectedType>& type = state_->types[&descriptor];
  if (!type) {
    const bool generated = descriptor.file()->pool() == google::protobuf::DescriptorPool::generated_pool();
    google::protobuf::MessageFactory* factory = &state_->factory;
    if (generated) factory = google::protobuf::MessageFactory::generated_factory();
    type = std::make_unique<pb::ReflectedType>(
        descriptor, *factory->GetPrototype(&descriptor),
        [this](const google::protobuf::Descriptor& nested) -> const MessageType& { return of(nested); });
  }
  return *type;
}

const MessageType& protobuf_type(const google::protobuf::Descriptor& descriptor, ProtobufTypes& types) {
  return types.of(descriptor);
}

namespace pb {

namespace {
// A generated class's shape together with the types of the messages inside it.
struct GeneratedShape {
  ProtobufTypes nested;
  MessageShape shape;
  explicit GeneratedShape(const Descriptor& descriptor)
      : shape(descriptor, [this](const Descriptor& d) -> const MessageType& { return nested.of(d); }) {}
};
}  // namespace

GeneratedType::~GeneratedType() = default;

std::string_view GeneratedType::name() const noexcept { return prototype_().GetDescriptor()->full_name(); }

const MessageShape& GeneratedType::shape() const {
  if (const MessageShape* known = shape_.load(std::memory_order_acquire)) return *known;
  auto made = std::make_unique<GeneratedShape>(*prototype_().GetDescriptor());
  const MessageShape* expected = nullptr;
  // The winner is never freed: it belongs to an Eternal type.
  if (shape_.compare_exchange_strong(expected, &made->shape, std::memory_order_acq_rel)) return made.release()->shape;
  return *expected;
}

std::span<const Field> GeneratedType::fields() const noexcept { return shape().fields(); }
const Field* GeneratedType::find(std::uint32_t number) const noexcept { return shape().find(number); }
const Field* GeneratedType::find(std::string_view name) const noexcept { return shape().find(name); }
void GeneratedType::write(const void* object, Writer& writer) const {
  shape().write(*cast_(const_cast<void*>(object)), *this, writer);
}
void GeneratedType::read(void* object, Reader& reader) const { shape().read(*cast_(object), *this, reader); }

}  // namespace pb
}  // namespace tenon
