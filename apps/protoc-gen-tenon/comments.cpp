#include "comments.hpp"

#include <string_view>

namespace tenon::generator {

namespace {

std::string_view without_trailing_space(std::string_view line) {
  // A backslash at the end would make the next line part of the comment.
  const std::size_t last = line.find_last_not_of(" \t\r\\");
  return last == std::string_view::npos ? std::string_view() : line.substr(0, last + 1);
}

std::string as_lines(std::string_view text) {
  std::string lines;
  std::size_t blank = 0;  // blank lines are written only between others
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = without_trailing_space(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) {
      ++blank;
      continue;
    }
    for (; blank > 0; --blank)
      if (!lines.empty()) lines += "///\n";
    lines += line.front() == ' ' ? "///" : "/// ";
    lines += line;
    lines += '\n';
  }
  return lines;
}

template <class Descriptor>
std::string comment_of(const Descriptor& descriptor) {
  google::protobuf::SourceLocation location;
  if (!descriptor.GetSourceLocation(&location)) return {};
  const std::string leading = as_lines(location.leading_comments);
  return leading.empty() ? as_lines(location.trailing_comments) : leading;
}

}  // namespace

std::string doc_comment(const google::protobuf::ServiceDescriptor& service) { return comment_of(service); }
std::string doc_comment(const google::protobuf::MethodDescriptor& method) { return comment_of(method); }

}  // namespace tenon::generator
