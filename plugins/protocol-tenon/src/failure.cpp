#include "failure.hpp"

#include <algorithm>
#include <string>

namespace tenon::wire {
namespace {

constexpr std::uint8_t last_known_code = static_cast<std::uint8_t>(Errc::already_exists);

// Not in the middle of a UTF-8 sequence.
std::string_view cut(std::string_view text, std::size_t limit) noexcept {
  if (text.size() <= limit) return text;
  std::size_t end = limit;
  while (end > 0 && limit - end < 4 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

void append_varint(OutBuffer& out, std::uint64_t value) {
  char* const at = out.prepare(max_varint);
  out.commit(static_cast<std::size_t>(put_varint(at, value) - at));
}

void append_text(OutBuffer& out, std::string_view text) {
  append_varint(out, text.size());
  out.append(text);
}

}  // namespace

void put_failure(const Error& error, OutBuffer& out) {
  const Errc code = error.code() == Errc::ok ? Errc::internal : error.code();
  out.push_back(static_cast<char>(code));
  out.push_back(
      static_cast<char>(static_cast<unsigned>(error.delivery()) | static_cast<unsigned>(error.advice()) << 2));
  const auto after = std::max<std::int64_t>(error.retry_after().count(), 0);
  append_varint(out, std::min(static_cast<std::uint64_t>(after), max_remaining_ms));
  append_text(out, cut(error.domain(), max_name));
  append_varint(out, zigzag(error.foreign_code()));
  append_text(out, cut(error.text(), max_text));
}

Scan get_failure(Cursor& cursor, Error& error) {
  std::uint8_t code = 0;
  std::uint8_t facts = 0;
  std::uint64_t after = 0;
  std::string_view domain;
  std::uint64_t foreign = 0;
  std::string_view text;
  if (const Scan scan = cursor.byte(code); scan != Scan::ok) return scan;
  if (const Scan scan = cursor.byte(facts); scan != Scan::ok) return scan;
  if (code == 0 || facts > 0x0F) return Scan::bad;
  if (const Scan scan = cursor.varint(after); scan != Scan::ok) return scan;
  if (const Scan scan = cursor.text(domain, max_name); scan != Scan::ok) return scan;
  if (const Scan scan = cursor.varint(foreign); scan != Scan::ok) return scan;
  if (const Scan scan = cursor.text(text, max_text); scan != Scan::ok) return scan;

  const unsigned delivery = facts & 3u;
  const bool known = code <= last_known_code;
  Error result(known ? static_cast<Errc>(code) : Errc::internal,
               text.empty() ? std::string("the peer answered with an error and gave no text") : std::string(text),
               delivery > 2 ? Delivery::maybe_run : static_cast<Delivery>(delivery));
  result.advise(static_cast<Advice>(facts >> 2),
                std::chrono::milliseconds(static_cast<std::int64_t>(std::min(after, max_remaining_ms))));
  if (!known) {
    result.foreign("tenon", code);
  } else if (!domain.empty() || foreign != 0) {
    result.foreign(std::string(domain), unzigzag(foreign));
  }
  error = std::move(result);
  return Scan::ok;
}

Error refused(Errc code, std::string text) {
  return Error(code, "protocol tenon: " + std::move(text), Delivery::not_run);
}

std::string method_text(const Target* target) {
  if (target == nullptr || target->service == nullptr || target->method == nullptr) return "(unknown method)";
  return target->service->text() + "." + std::string(target->method->name);
}

}  // namespace tenon::wire
