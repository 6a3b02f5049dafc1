#include "head.hpp"

#include <cstring>

namespace tenon::wire {
Scan read_list_field(Cursor& cursor, const Limits& limits, ListField& field) noexcept {
  if (const Scan scan = cursor.varint(field.ref.value); scan != Scan::ok) return scan;
  if (field.ref.refers()) return Scan::ok;
  std::uint64_t size = 0;
  if (const Scan scan = cursor.varint(size); scan != Scan::ok) return scan;
  if (size > cursor.left() || size == 0) return Scan::bad;
  if (size > limits.max_headers) {
    field.oversize = size;
    return Scan::ok;
  }
  field.size = static_cast<std::size_t>(size);
  const std::size_t list_at = cursor.at();
  if (const Scan scan = cursor.varint(field.count); scan != Scan::ok) return scan;
  const std::size_t count_size = cursor.at() - list_at;
  if (count_size > field.size) return Scan::bad;
  if (field.count > limits.max_header_count) {
    field.oversize = field.count;
    field.many = true;
    return Scan::ok;
  }
  return cursor.bytes(field.pairs, field.size - count_size);
}

Scan read_head(Cursor& cursor, const Limits& limits, Head& head) noexcept {
  std::uint64_t call = 0;
  if (const Scan scan = cursor.varint(call); scan != Scan::ok) return scan;
  if (call > 0xFFFFFFFFu) return Scan::bad;
  head.call = static_cast<std::uint32_t>(call);
  head.attachment = 0;
  if (head.kind == Kind::request) {
    if (const Scan scan = cursor.varint(head.names.value); scan != Scan::ok) return scan;
    if (!head.names.refers()) {
      for (std::string_view& name : head.text)
        if (const Scan scan = cursor.text(name, max_name); scan != Scan::ok) return scan;
    }
    if (const Scan scan = cursor.varint(head.remaining_ms); scan != Scan::ok) return scan;
  } else if (head.has(flag_content)) {
    for (std::string_view* name : {&head.text[4], &head.text[5]})
      if (const Scan scan = cursor.text(*name, max_name); scan != Scan::ok) return scan;
  }
  if (head.has(flag_headers)) {
    if (const Scan scan = read_list_field(cursor, limits, head.headers); scan != Scan::ok) return scan;
  }
  if (head.has(flag_attachment) && head.headers.oversize == 0) {
    if (const Scan scan = cursor.varint(head.attachment); scan != Scan::ok) return scan;
  }
  head.body_at = cursor.at();
  return Scan::ok;
}

bool read_list(std::string_view pairs, std::uint64_t count, Headers& headers) {
  Cursor cursor(pairs.data(), pairs.size(), pairs.size());
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string_view key;
    std::string_view value;
    if (cursor.text(key, pairs.size()) != Scan::ok || cursor.text(value, pairs.size()) != Scan::ok) return false;
    headers.set(key, value);
  }
  return cursor.left() == 0 && headers.size() == count;  // a key said twice is refused
}

std::size_t list_size(const Headers& headers) noexcept {
  std::size_t size = varint_size(headers.size());
  for (const auto& [key, value] : headers.entries()) size += text_size(key) + text_size(value);
  return size;
}

char* put_text(char* to, std::string_view text) noexcept {
  to = put_varint(to, text.size());
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

char* put_list(char* to, const Headers& headers, std::size_t size) noexcept {
  to = put_varint(to, size);
  to = put_varint(to, headers.size());
  for (const auto& [key, value] : headers.entries()) to = put_text(put_text(to, key), value);
  return to;
}

std::string quoted(std::string_view bytes) {
  constexpr char hex[] = "0123456789abcdef";
  std::string text = "\"";
  for (const char c : bytes.substr(0, 64)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\') {
      text += c;
    } else {
      text += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    }
  }
  return text += bytes.size() > 64 ? "…\"" : "\"";
}

}  // namespace tenon::wire
