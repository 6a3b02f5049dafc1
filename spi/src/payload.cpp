#include "tenon/payload.hpp"

#include <exception>
#include <memory>
#include <string>

#include "tenon/described_type.hpp"

namespace tenon {

namespace {

// A decompressed or not yet compressed body, kept by the thread unless it was unusually large.
class Scratch {
 public:
  Scratch() noexcept : buffer_(std::move(kept())) { buffer_.clear(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (buffer_.capacity() <= kept_capacity) kept() = std::move(buffer_);
  }
  OutBuffer& operator*() noexcept { return buffer_; }

 private:
  static constexpr std::size_t kept_capacity = 256u << 10;
  static OutBuffer& kept() noexcept {
    thread_local OutBuffer buffer;
    return buffer;
  }
  OutBuffer buffer_;
};

// One C++ class may have a MessageType in each shared library; their objects are the same.
bool same(const MessageType& a, const MessageType& b) noexcept {
  if (&a == &b) return true;
  const auto* left = dynamic_cast<const described::DescribedType*>(&a);
  const auto* right = dynamic_cast<const described::DescribedType*>(&b);
  return left && right && left->same_class(*right);
}

Error wrong_type(const MessageType& has, const MessageType& wanted) {
  return Error(Errc::invalid_argument,
               "the payload holds a " + std::string(has.name()) + ", a " + std::string(wanted.name()) + " is wanted");
}
Error nothing_there(const MessageType& wanted) {
  return Error(Errc::invalid_argument, "the payload is empty, a " + std::string(wanted.name()) + " is wanted");
}
Error no_serializer() { return Error(Errc::internal, "the payload's encoding names no serializer"); }

// Runs `step`; an exception (out of memory, a plugin's defect) becomes an error.
// The name is asked for only then: some types look it up.
Result<void> guarded(std::string_view what, const MessageType* type, const auto& step) {
  const auto said = [&](const char* why) {
    return Error(Errc::internal,
                 std::string(what) + " a " + std::string(type ? type->name() : "payload") + ": " + std::string(why));
  };
  try {
    return step();
  } catch (const std::exception& e) {
    return said(e.what());
  } catch (...) {
    return said("unknown exception");
  }
}

Result<void> decode_plain(const Encoding& encoding, std::string_view body, const MessageType& type, void* object) {
  if (body.size() > encoding.limit)
    return Error(Errc::too_large, "a " + std::string(type.name()) + " of " + std::to_string(body.size()) +
                                      " bytes exceeds the limit of " + std::to_string(encoding.limit));
  type.clear(object);
  return encoding.serializer->decode(body, type, object);
}

Result<void> decode(const Encoding& encoding, std::string_view bytes, const MessageType& type, void* object) {
  if (!encoding.serializer) return no_serializer();
  return guarded("decoding", &type, [&]() -> Result<void> {
    if (!encoding.compressor) return decode_plain(encoding, bytes, type, object);
    Scratch plain;
    if (auto done = encoding.compressor->decompress(bytes, *plain, encoding.limit); !done.ok()) return done;
    return decode_plain(encoding, (*plain).view(), type, object);
  });
}

bool same_serializer(const Encoding& a, const Encoding& b) noexcept {
  return a.serializer == b.serializer ||
         (a.serializer && b.serializer && a.serializer->content_type() == b.serializer->content_type());
}
bool same_compressor(const Encoding& a, const Encoding& b) noexcept {
  return a.compressor == b.compressor ||
         (a.compressor && b.compressor && a.compressor->encoding() == b.compressor->encoding());
}

}  // namespace

Payload Payload::adopt(const MessageType& type, void* value) noexcept {
  Payload payload = borrow(type, value);
  payload.state_ = State::owned_value;
  return payload;
}

Payload Payload::adopt_encoded(const Encoding& encoding, OutBuffer bytes) noexcept {
  Payload payload;
  payload.encoding_ = &encoding;
  ::new (&payload.buffer_) OutBuffer(std::move(bytes));
  payload.state_ = State::owned_bytes;
  return payload;
}

Result<void> Payload::take_into(const MessageType& type, void* object) {
  if (empty()) return nothing_there(type);
  if (is_encoded()) return decode(*encoding_, bytes(), type, object);
  if (!same(*type_, type)) return wrong_type(*type_, type);
  if (state_ == State::owned_value) {
    type.move(const_cast<void*>(view_.first), object);
  } else {
    type.copy(view_.first, object);
  }
  return {};
}

Result<const void*> Payload::get(const MessageType& type) {
  if (empty()) return nothing_there(type);
  if (has_value()) {
    if (!same(*type_, type)) return wrong_type(*type_, type);
    return view_.first;
  }
  void* object = type.create();
  if (auto done = decode(*encoding_, bytes(), type, object); !done.ok()) {
    type.destroy(object);
    return std::move(done).error();
  }
  *this = adopt(type, object);
  return view_.first;
}

Result<void> Payload::encode(const Encoding& encoding, OutBuffer& out) const {
  if (empty()) return Error(Errc::invalid_argument, "the payload is empty, nothing can be encoded");
  if (!encoding.serializer) return no_serializer();
  return guarded("encoding", has_value() ? type_ : nullptr, [&]() -> Result<void> {
    if (has_value()) {
      if (!encoding.compressor) return encoding.serializer->encode(*type_, view_.first, out);
      Scratch plain;
      if (auto done = encoding.serializer->encode(*type_, view_.first, *plain); !done.ok()) return done;
      return encoding.compressor->compress((*plain).view(), out);
    }
    if (!same_serializer(*encoding_, encoding))
      return Error(Errc::invalid_argument, "the payload holds bytes of serializer " +
                                               std::string(encoding_->serializer->content_type()) + ", not of " +
                                               std::string(encoding.serializer->content_type()) + ": decode it first");
    if (same_compressor(*encoding_, encoding)) {
      out.append(bytes());
      return {};
    }
    Scratch plain;
    std::string_view body = bytes();
    if (encoding_->compressor) {
      if (auto done = encoding_->compressor->decompress(body, *plain, encoding_->limit); !done.ok()) return done;
      body = (*plain).view();
    }
    if (encoding.compressor) return encoding.compressor->compress(body, out);
    out.append(body);
    return {};
  });
}

void Payload::own() {
  if (state_ == State::borrowed_value || state_ == State::borrowed_bytes) *this = clone();
}

Payload Payload::clone() const {
  if (empty()) return {};
  if (is_encoded()) {
    OutBuffer copy;
    copy.append(bytes());
    return adopt_encoded(*encoding_, std::move(copy));
  }
  void* object = type_->create();
  Payload copy = adopt(*type_, object);  // destroys the object should copying throw
  type_->copy(view_.first, object);
  return copy;
}

void Payload::reset() noexcept {
  if (state_ == State::owned_value) type_->destroy(const_cast<void*>(view_.first));
  if (state_ == State::owned_bytes) buffer_.~OutBuffer();
  view_ = {};
  state_ = State::empty;
}

}  // namespace tenon
