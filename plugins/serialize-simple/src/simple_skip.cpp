// SimpleReader: what nobody asked for. It is checked like everything else, without recursion.
#include <string>

#include "simple_reader.hpp"

namespace tenon::simple {

bool SimpleReader::skip() {
  struct Part {
    const char* outside;  // where what is around it ends
    bool texts;           // its values carry no tags
    bool is_map;
    bool odd;  // map: a key has been skipped, its value has not
  };
  std::array<Part, max_depth + 1> parts;
  int open = 0;
  do {
    Tag tag{};
    if (open > 0 && parts[static_cast<std::size_t>(open - 1)].texts) {
      tag = Tag::string;
    } else if (open > 0) {
      tag = static_cast<Tag>(*at_++);  // a part at its end has been closed
    } else if (!next(tag, "a value")) {
      return false;
    }
    if (open > 0) {
      Part& part = parts[static_cast<std::size_t>(open - 1)];
      part.odd = part.is_map && !part.odd;
    }
    std::uint64_t bits = 0;
    std::int64_t number = 0;
    std::string_view content;
    switch (tag) {
      case Tag::null: break;
      case Tag::boolean:
      case Tag::i8:
        if (!fixed(1, bits)) return false;
        break;
      case Tag::i16:
        if (!fixed(2, bits)) return false;
        break;
      case Tag::f32:
        if (!fixed(4, bits)) return false;
        break;
      case Tag::f64:
        if (!fixed(8, bits)) return false;
        break;
      case Tag::i32:
      case Tag::i64:
        if (!zigzag(tag == Tag::i32 ? 32 : 64, number)) return false;
        break;
      case Tag::string:
      case Tag::bytes:
        if (!sized(content)) return false;
        break;
      case Tag::string_map:
      case Tag::string_list:
      case Tag::map:
      case Tag::list:
        if (!sized(content)) return false;
        if (nested_ + open >= max_depth) return refuse("nested deeper than 64 levels");
        parts[static_cast<std::size_t>(open++)] = {.outside = end_,
                                                   .texts = tag == Tag::string_map || tag == Tag::string_list,
                                                   .is_map = tag == Tag::string_map || tag == Tag::map,
                                                   .odd = false};
        at_ = content.data();
        end_ = at_ + content.size();
        break;
      default: return wrong(tag, "a value");
    }
    for (; open > 0 && at_ == end_; --open) {
      const Part& part = parts[static_cast<std::size_t>(open - 1)];
      if (part.odd) return refuse("a map ends behind a key");
      end_ = part.outside;
    }
  } while (open > 0);
  return true;
}

}  // namespace tenon::simple
