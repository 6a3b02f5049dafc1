#include "json_parse.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <string>
#include <unordered_set>
#include <vector>

#include "json_writer.hpp"

namespace tenon::json {

namespace {

namespace bj = boost::json;
using bj::error_code;
using bj::string_view;

// Builds the document. Boost.JSON's own parser keeps the last of duplicate keys and (in 1.81) misses the last bit of
// some doubles; this handler refuses the former and re-reads the latter.
struct Handler {
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  bj::value_stack stack;
  std::string text;  // of the key or number that is being read
  std::vector<std::unordered_set<std::string>> keys;
  std::string duplicate;

  bool on_document_begin(error_code&) {
    stack.reset();
    return true;
  }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) {
    keys.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t n, error_code&) {
    keys.pop_back();
    stack.push_object(n);
    return true;
  }
  bool on_array_begin(error_code&) { return true; }
  bool on_array_end(std::size_t n, error_code&) {
    stack.push_array(n);
    return true;
  }
  bool on_key_part(string_view part, std::size_t, error_code&) {
    text.append(part.data(), part.size());
    stack.push_chars(part);
    return true;
  }
  bool on_key(string_view part, std::size_t, error_code& error) {
    text.append(part.data(), part.size());
    const bool is_new = keys.back().insert(text).second;
    if (!is_new) {
      duplicate = text;
      error = make_error_code(bj::error::syntax);
      return false;
    }
    text.clear();
    stack.push_key(part);
    return true;
  }
  bool on_string_part(string_view part, std::size_t, error_code&) {
    stack.push_chars(part);
    return true;
  }
  bool on_string(string_view part, std::size_t, error_code&) {
    stack.push_string(part);
    return true;
  }
  bool on_number_part(string_view part, error_code&) {
    text.append(part.data(), part.size());
    return true;
  }
  bool on_int64(std::int64_t value, string_view, error_code&) {
    text.clear();
    stack.push_int64(value);
    return true;
  }
  bool on_uint64(std::uint64_t value, string_view, error_code&) {
    text.clear();
    stack.push_uint64(value);
    return true;
  }
  bool on_double(double value, string_view part, error_code& error) {
    text.append(part.data(), part.size());
    double exact = value;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), exact);
    if (failure == std::errc::result_out_of_range && value != 0 && !(value > -1 && value < 1)) {
      error = make_error_code(bj::error::exponent_overflow);
      return false;
    }
    text.clear();
    stack.push_double(failure == std::errc() ? exact : 0.0);
    return true;
  }
  bool on_bool(bool value, error_code&) {
    stack.push_bool(value);
    return true;
  }
  bool on_null(error_code&) {
    stack.push_null();
    return true;
  }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }
};

}  // namespace

Result<bj::value> parse(std::string_view text) {
  bj::parse_options options;
  options.max_depth = max_depth;
  bj::basic_parser<Handler> parser(options);
  error_code error;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
  if (error) {
    const std::string& duplicate = parser.handler().duplicate;
    const std::string what =
        duplicate.empty() ? error.message() : "key \"" + duplicate.substr(0, 64) + "\" stands twice";
    return Error(Errc::malformed, "JSON: " + what + " at byte " + std::to_string(used));
  }
  if (used != text.size())
    return Error(Errc::malformed, "JSON: the document ends at byte " + std::to_string(used) + ", text follows");
  return parser.handler().stack.release();
}

}  // namespace tenon::json
