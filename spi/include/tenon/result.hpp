#pragma once
// Errors are values. Nothing on the call path throws; every fallible function returns Result<T>.

#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tenon/export.hpp"

namespace tenon {

/// What failed. The numbers travel on the wire (protocol-tenon): append, never renumber.
enum class Errc : std::uint8_t {
  ok = 0,
  cancelled = 1,          ///< the caller (or the peer) gave the call up
  deadline_exceeded = 2,  ///< the call's one deadline passed, wherever the call stood
  unavailable = 3,        ///< no usable instance, connect failed, connection lost, peer going away
  overloaded = 4,         ///< a bound was hit: in flight, unwritten bytes, queue
  not_found = 5,          ///< no such service or method at the peer
  invalid_argument = 6,   ///< the request is well-formed but not acceptable
  malformed = 7,          ///< bytes that cannot be parsed
  too_large = 8,          ///< a size limit was exceeded
  unauthenticated = 9,
  permission_denied = 10,
  unimplemented = 11,   ///< understood, not supported here
  application = 12,     ///< the business code answered with an error
  internal = 13,        ///< a defect: handler threw, invariant broken
  would_deadlock = 14,  ///< a blocking call was made on an io thread
  config = 15,          ///< manifest, options or plugin refused
  already_exists = 16,
};

/// Whether the handler started. Decides what may be re-sent; never crosses a hop (a peer's word about its own
/// downstream says nothing about our request).
enum class Delivery : std::uint8_t {
  not_run,    ///< proven not started: may be re-sent to another instance
  maybe_run,  ///< unknown: re-sent only when the method is idempotent
  ran,        ///< started (it answered): never re-sent
};

/// What the failing side recommends.
enum class Advice : std::uint8_t {
  none,
  other_instance,  ///< this instance cannot, another may
  after,           ///< try again after Error::retry_after()
  never,           ///< pointless anywhere
};

/// The lower-case name of a code as it appears in messages ("deadline_exceeded").
TENON_SPI std::string_view to_string(Errc code) noexcept;
TENON_SPI std::string_view to_string(Delivery delivery) noexcept;

class Headers;

/// A failure. One pointer wide; a default-constructed Error means "no error".
/// Text says who, what, where and what to do. Foreign systems' codes survive in domain() and foreign_code().
class TENON_SPI Error {
 public:
  Error() noexcept : detail_(nullptr) {}
  Error(Errc code, std::string text, Delivery delivery = Delivery::maybe_run, Advice advice = Advice::none);
  Error(const Error& other);
  Error(Error&& other) noexcept : detail_(std::exchange(other.detail_, nullptr)) {}
  Error& operator=(Error other) noexcept {
    std::swap(detail_, other.detail_);
    return *this;
  }
  ~Error() {
    if (detail_) destroy();
  }

  explicit operator bool() const noexcept { return detail_ != nullptr; }
  Errc code() const noexcept;
  Delivery delivery() const noexcept;
  Advice advice() const noexcept;
  std::chrono::milliseconds retry_after() const noexcept;
  /// A human sentence, never empty for an error. Not for matching.
  const std::string& text() const noexcept;
  /// Which system's code foreign_code() is: "" (none), a protocol's ("grpc"), an application's own name.
  const std::string& domain() const noexcept;
  std::int64_t foreign_code() const noexcept;
  /// Extra facts sent along with an error reply; null when there are none.
  const Headers* headers() const noexcept;

  // Each returns *this so that an error can be refined while it is returned.
  Error& deliver(Delivery delivery) & noexcept;
  Error&& deliver(Delivery delivery) && noexcept { return std::move(deliver(delivery)); }
  Error& advise(Advice advice, std::chrono::milliseconds after = {}) & noexcept;
  Error&& advise(Advice advice, std::chrono::milliseconds after = {}) && noexcept {
    return std::move(advise(advice, after));
  }
  Error& foreign(std::string domain, std::int64_t code) &;
  Error&& foreign(std::string domain, std::int64_t code) && { return std::move(foreign(std::move(domain), code)); }
  Error& attach(Headers headers) &;
  /// Puts "where: " in front of the text.
  Error& prefix(std::string_view where) &;
  Error&& prefix(std::string_view where) && { return std::move(prefix(where)); }

 private:
  struct Detail;
  void destroy() noexcept;
  Detail* detail_;
};

/// A value or an Error. Small stand-in for std::expected.
/// REQUIRES: value access only when ok(), error access only when !ok() (asserted in debug builds).
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result() noexcept(std::is_nothrow_default_constructible_v<T>)
    requires std::is_default_constructible_v<T>
      : has_value_(true) {
    ::new (&value_) T();
  }
  Result(T value) noexcept(std::is_nothrow_move_constructible_v<T>) : has_value_(true) {  // NOLINT
    ::new (&value_) T(std::move(value));
  }
  Result(Error error) noexcept : has_value_(false), error_(std::move(error)) {}  // NOLINT
  Result(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
      : has_value_(other.has_value_), error_(std::move(other.error_)) {
    if (has_value_) ::new (&value_) T(std::move(other.value_));
  }
  Result(const Result& other)
    requires std::is_copy_constructible_v<T>
      : has_value_(other.has_value_), error_(other.error_) {
    if (has_value_) ::new (&value_) T(other.value_);
  }
  Result& operator=(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    if (this != &other) {
      this->~Result();
      ::new (this) Result(std::move(other));
    }
    return *this;
  }
  Result& operator=(const Result& other)
    requires std::is_copy_constructible_v<T>
  {
    Result copy(other);
    return *this = std::move(copy);
  }
  ~Result() {
    if (has_value_) value_.~T();
  }

  bool ok() const noexcept { return has_value_; }
  explicit operator bool() const noexcept { return has_value_; }
  T& value() & noexcept { return value_; }
  const T& value() const& noexcept { return value_; }
  T&& value() && noexcept { return std::move(value_); }
  T& operator*() & noexcept { return value_; }
  const T& operator*() const& noexcept { return value_; }
  T&& operator*() && noexcept { return std::move(value_); }
  T* operator->() noexcept { return &value_; }
  const T* operator->() const noexcept { return &value_; }
  Error& error() & noexcept { return error_; }
  const Error& error() const& noexcept { return error_; }
  Error&& error() && noexcept { return std::move(error_); }

 private:
  union {
    T value_;
  };
  bool has_value_;  // not derived from error_: a moved-from failure is still no value
  Error error_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  Result() noexcept = default;
  Result(Error error) noexcept : error_(std::move(error)) {}  // NOLINT
  bool ok() const noexcept { return !error_; }
  explicit operator bool() const noexcept { return ok(); }
  Error& error() & noexcept { return error_; }
  const Error& error() const& noexcept { return error_; }
  Error&& error() && noexcept { return std::move(error_); }

 private:
  Error error_;
};

}  // namespace tenon
