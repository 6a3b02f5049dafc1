#pragma once
#include <string>
#include <string_view>

#include "tenon/result.hpp"

namespace tenon::zk {

/// How a node's data is a text. Everybody reads both; Motan's older Java factory reads only what it writes itself.
enum class TextEncoding {
  plain,  ///< UTF-8, written by Motan in Go and by the Java factory "zk"
  java,   ///< one String of Java's object serialisation, written by the Java factory "zookeeper"
};

struct NodeText {
  std::string text;
  TextEncoding encoding = TextEncoding::plain;
  bool operator==(const NodeText&) const = default;
};

/// The text that a node's data is. Plain data is taken as it is; of Java's UTF-16 halves without a partner, each
/// becomes U+FFFD. Fails with: malformed (Java's serialisation of something else, or cut short).
Result<NodeText> read_node_text(std::string_view data);

/// The data of a node with this text, for read_node_text() and for Motan. What is no UTF-8 becomes U+FFFD in Java's
/// form.
std::string write_node_text(std::string_view text, TextEncoding encoding);

}  // namespace tenon::zk
