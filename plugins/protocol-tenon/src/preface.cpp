#include "preface.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::wire {

void put_preface(const Preface& preface, SessionOutput& output) {
  char fields[8 * max_varint];
  char window[max_varint];
  const auto window_size = static_cast<std::size_t>(put_varint(window, preface.stream_window) - window);
  char* end = fields;
  for (const std::uint64_t value : {preface.major, preface.minor, preface.features, preface.max_frame,
                                    preface.max_headers, preface.max_header_count, preface.max_concurrent}) {
    end = put_varint(end, value);
  }
  end = put_varint(end, preface.compressors.size());
  const auto numbers = static_cast<std::size_t>(end - fields);
  const std::size_t size = numbers + preface.compressors.size() + window_size;
  char* const start = output.prepare(magic.size() + max_varint + size);
  std::memcpy(start, magic.data(), magic.size());
  char* at = put_varint(start + magic.size(), size);
  std::memcpy(at, fields, numbers);
  at += numbers;
  at += preface.compressors.copy(at, preface.compressors.size());
  std::memcpy(at, window, window_size);
  at += window_size;
  output.commit(static_cast<std::size_t>(at - start));
}

Scan get_preface(std::string_view bytes, Preface& preface, std::size_t& consumed, bool& version) {
  version = false;
  const std::string_view head = bytes.substr(0, magic.size());
  if (head != magic.substr(0, head.size())) return Scan::bad;
  if (head.size() < magic.size()) return Scan::more;
  const char* at = bytes.data() + magic.size();
  const char* const end = bytes.data() + bytes.size();
  std::uint64_t size = 0;
  if (const Scan scan = get_varint(at, end, size); scan != Scan::ok) return scan;
  if (size > max_preface) return Scan::bad;
  Cursor fields(at, static_cast<std::size_t>(end - at), static_cast<std::size_t>(size));
  if (const Scan scan = fields.varint(preface.major); scan != Scan::ok) return scan;
  // Nothing after the major number may be read with this version's eyes when it is not ours.
  if (preface.major != major_version) {
    version = true;
    return Scan::bad;
  }
  for (std::uint64_t* field : {&preface.minor, &preface.features, &preface.max_frame, &preface.max_headers,
                               &preface.max_header_count, &preface.max_concurrent}) {
    if (const Scan scan = fields.varint(*field); scan != Scan::ok) return scan;
  }
  preface.compressors.clear();
  if (fields.left() > 0) {
    std::string_view compressors;
    if (const Scan scan = fields.text(compressors, max_preface); scan != Scan::ok) return scan;
    preface.compressors = compressors;
  }
  preface.stream_window = 0;
  if (fields.left() > 0) {
    if (const Scan scan = fields.varint(preface.stream_window); scan != Scan::ok) return scan;
  }
  std::string_view later_fields;  // a newer minor version's
  if (const Scan scan = fields.bytes(later_fields, fields.left()); scan != Scan::ok) return scan;
  consumed = static_cast<std::size_t>(later_fields.data() + later_fields.size() - bytes.data());
  return Scan::ok;
}

}  // namespace tenon::wire
