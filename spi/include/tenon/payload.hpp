#pragma once
#include <cstdint>
#include <new>
#include <string_view>

#include "tenon/buffer.hpp"
#include "tenon/serializer.hpp"
#include "tenon/type.hpp"

namespace tenon {

/// A typed value or its encoded bytes; decoded on first use. Filters that look only at headers never pay for parsing
/// and forwarders pass bytes on untouched. Move-only, one owner; sharing is explicit (clone()).
///
/// Borrowed forms (a caller's object, bytes in a read buffer) are valid until the call they belong to ends; whoever
/// keeps a payload longer calls own() first.
/// Threads: one at a time.
class TENON_SPI Payload {
 public:
  Payload() noexcept : type_(nullptr), view_{} {}
  Payload(Payload&& other) noexcept : type_(nullptr), view_{} { take(other); }
  Payload& operator=(Payload&& other) noexcept {
    if (this != &other) {
      if (state_ >= State::owned_value) reset();
      take(other);
    }
    return *this;
  }
  ~Payload() {
    if (state_ >= State::owned_value) reset();
  }

  /// A value that stays the caller's.
  static Payload borrow(const MessageType& type, const void* value) noexcept {
    return Payload(&type, value, State::borrowed_value);
  }
  /// A value made by type.create(), now ours.
  static Payload adopt(const MessageType& type, void* value) noexcept;
  /// Encoded bytes that stay where they are / that we own.
  static Payload borrow_encoded(const Encoding& encoding, std::string_view bytes) noexcept {
    return Payload(encoding, bytes);
  }
  static Payload adopt_encoded(const Encoding& encoding, OutBuffer bytes) noexcept;

  /// Becomes borrow(type, value), without a second payload in between.
  void refer_to(const MessageType& type, const void* value) noexcept {
    if (state_ >= State::owned_value) reset();
    type_ = &type;
    view_ = {value, 0};
    state_ = State::borrowed_value;
  }

  bool empty() const noexcept { return state_ == State::empty; }
  bool has_value() const noexcept { return state_ == State::borrowed_value || state_ == State::owned_value; }
  bool is_encoded() const noexcept { return state_ == State::borrowed_bytes || state_ == State::owned_bytes; }
  /// The type of the value; null unless has_value().
  const MessageType* type() const noexcept { return has_value() ? type_ : nullptr; }
  /// REQUIRES has_value().
  const void* value() const noexcept { return view_.first; }
  /// REQUIRES is_encoded(). The bytes as they were sent (compressed if encoding().compressor is set).
  const Encoding& encoding() const noexcept { return *encoding_; }
  std::string_view bytes() const noexcept {
    return state_ == State::owned_bytes ? buffer_.view()
                                        : std::string_view(static_cast<const char*>(view_.first), view_.size);
  }

  /// Decodes (or copies, or moves) the value into *object, an object of `type`.
  /// Fails with: malformed, too_large, invalid_argument (the payload holds a value of another type).
  Result<void> take_into(const MessageType& type, void* object);
  /// The value as an object of `type`, decoded into this payload on first use and kept.
  Result<const void*> get(const MessageType& type);
  /// The value encoded with `encoding`, appended to `out` (bytes already in that encoding are copied).
  Result<void> encode(const Encoding& encoding, OutBuffer& out) const;
  /// Turns borrowed contents into owned ones.
  void own();
  Payload clone() const;
  void reset() noexcept;

 private:
  enum class State : std::uint8_t { empty, borrowed_value, borrowed_bytes, owned_value, owned_bytes };
  struct View {
    const void* first;  // the value, or the first borrowed byte
    std::size_t size;   // borrowed bytes
  };
  Payload(const MessageType* type, const void* value, State state) noexcept
      : type_(type), view_{value, 0}, state_(state) {}
  Payload(const Encoding& encoding, std::string_view bytes) noexcept
      : encoding_(&encoding), view_{bytes.data(), bytes.size()}, state_(State::borrowed_bytes) {}
  void take(Payload& other) noexcept {
    state_ = other.state_;
    type_ = other.type_;
    if (state_ == State::owned_bytes) {
      ::new (&buffer_) OutBuffer(std::move(other.buffer_));
      other.buffer_.~OutBuffer();
    } else {
      view_ = other.view_;
    }
    other.view_ = {};
    other.state_ = State::empty;
  }
  union {
    const MessageType* type_;
    const Encoding* encoding_;
  };
  union {
    View view_;
    OutBuffer buffer_;  // owned bytes
  };
  State state_ = State::empty;
};

}  // namespace tenon
