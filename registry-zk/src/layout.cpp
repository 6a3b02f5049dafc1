#include "layout.hpp"

#include <cstdint>

#include "tenon/utf8.hpp"

namespace tenon::zk {

namespace {

Error refuse(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

// What ZooKeeper does not take: control characters, and of UTF-16 the halves of pairs, private use and specials.
bool allowed(std::string_view utf8) {
  for (std::size_t at = 0; at < utf8.size(); ++at) {
    const auto first = static_cast<unsigned char>(utf8[at]);
    if (first < 0x20 || first == 0x7F || first >= 0xF0) return false;
    std::uint32_t code = first;
    if (first >= 0xE0) {
      code = (first & 0x0Fu) << 12 | (static_cast<unsigned char>(utf8[at + 1]) & 0x3Fu) << 6 |
             (static_cast<unsigned char>(utf8[at + 2]) & 0x3Fu);
      at += 2;
    } else if (first >= 0xC0) {
      code = (first & 0x1Fu) << 6 | (static_cast<unsigned char>(utf8[at + 1]) & 0x3Fu);
      at += 1;
    }
    if ((code >= 0x80 && code <= 0x9F) || (code >= 0xD800 && code <= 0xF8FF) || code >= 0xFFF0) return false;
  }
  return true;
}

}  // namespace

std::string group_or_default(const std::string& group) { return group.empty() ? std::string(default_group) : group; }

std::string Layout::document(const std::string& kind, const std::string& group) const {
  std::string path = this->group(group) + "/" + std::string(command_node);
  return kind == command_node ? path : path + "/" + kind;
}

Result<void> check_name(std::string_view what, std::string_view name) {
  const std::string begin = std::string(what) + " '" + std::string(name.substr(0, 100)) + "' ";
  if (name.empty()) return refuse(std::string(what) + " is empty");
  if (name == "." || name == "..") return refuse(begin + "cannot be the name of a ZooKeeper node");
  if (name.find('/') != std::string_view::npos)
    return refuse(begin + "contains '/', which ends the name of a ZooKeeper node");
  if (!is_utf8(name)) return refuse(begin + "is no UTF-8 text, so it cannot be the name of a ZooKeeper node");
  if (!allowed(name)) return refuse(begin + "contains a character that ZooKeeper does not take in names");
  return {};
}

Result<void> check_service(const ServiceName& service) {
  if (auto checked = check_name("the service's name", service.interface); !checked.ok()) return checked;
  if (service.interface == command_node)
    return refuse("a service cannot have the name 'command', which is the node of the group's traffic commands");
  return check_name("the service's group", group_or_default(service.group));
}

Result<void> check_root(std::string_view root) {
  const std::string begin = "root '" + std::string(root.substr(0, 100)) + "' ";
  if (!root.starts_with('/') || root.size() < 2) return refuse(begin + "must be a path such as /motan");
  if (root.ends_with('/')) return refuse(begin + "must not end with '/'");
  for (std::string_view rest = root.substr(1);;) {
    const std::string_view name = rest.substr(0, rest.find('/'));
    if (auto checked = check_name("a part of root " + std::string(root.substr(0, 100)), name); !checked.ok())
      return checked;
    if (name.size() == rest.size()) break;
    rest.remove_prefix(name.size() + 1);
  }
  if (root == "/zookeeper" || root.starts_with("/zookeeper/"))
    return refuse(begin + "belongs to ZooKeeper itself; choose another, such as /motan");
  return {};
}

std::string_view parent_of(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view name_of(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

}  // namespace tenon::zk
