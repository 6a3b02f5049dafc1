#include "unix_address.hpp"

#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace tenon::tcp {

namespace {

constexpr std::string_view scheme = "unix:";
constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::size_t head = offsetof(sockaddr_un, sun_path);

Error refuse(std::string_view text, std::string_view what) {
  constexpr std::size_t shown = 300;
  std::string sentence = "address '" + std::string(text.substr(0, shown)) + "': ";
  return Error(Errc::config, sentence.append(what), Delivery::not_run, Advice::never);
}

const sockaddr_un& as_unix(const SocketAddress& address) {
  return reinterpret_cast<const sockaddr_un&>(address.storage);
}

/// What stands in sun_path, without the NUL that may end a path.
std::string_view name_of(const SocketAddress& address) {
  if (address.size <= head) return {};
  const std::string_view name(as_unix(address).sun_path, address.size - head);
  return name.front() == '\0' ? name : name.substr(0, name.find('\0'));
}

}  // namespace

bool is_unix(std::string_view address) noexcept { return address.starts_with(scheme); }

Result<SocketAddress> parse_unix(std::string_view text) {
  const std::string_view name = text.substr(std::min(scheme.size(), text.size()));
  if (!is_unix(text) || name.empty() || (name.front() != '/' && name.front() != '@'))
    return refuse(text, "write unix:/absolute/path.sock, or unix:@name for a socket without a file");
  if (std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
    return refuse(text, "a socket's path has no control characters");
  if (name.size() == 1) return refuse(text, "the name is missing");
  if (name.size() > longest)
    return refuse(text, "the path has " + std::to_string(name.size()) + " bytes; the kernel takes " +
                            std::to_string(longest) + "; choose a shorter one");
  SocketAddress address;
  auto& to = reinterpret_cast<sockaddr_un&>(address.storage);
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, name.data(), name.size());
  if (name.front() == '@') {
    to.sun_path[0] = '\0';
    address.size = static_cast<socklen_t>(head + name.size());
  } else {
    address.size = static_cast<socklen_t>(head + name.size() + 1);
  }
  return address;
}

std::string unix_text(const SocketAddress& address) {
  std::string text(name_of(address));
  if (!text.empty() && text.front() == '\0') text.front() = '@';
  return std::string(scheme) + text;
}

std::string unix_file(const SocketAddress& address) {
  const std::string_view name = name_of(address);
  return name.empty() || name.front() == '\0' ? std::string() : std::string(name);
}

PeerInfo unix_info(int fd) {
  PeerInfo info;
  SocketAddress peer;
  SocketAddress local;
  ucred credentials{};
  socklen_t size = sizeof credentials;
  const bool vouched = ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0;
  if (::getpeername(fd, peer.get(), &peer.size) != 0) peer.size = 0;
  if (::getsockname(fd, local.get(), &local.size) != 0) local.size = 0;
  const std::string process = std::string(scheme) + "pid=";
  info.peer = name_of(peer).empty() ? process + std::to_string(vouched ? credentials.pid : 0) : unix_text(peer);
  info.local = name_of(local).empty() ? process + std::to_string(::getpid()) : unix_text(local);
  if (vouched) info.identity = "uid:" + std::to_string(credentials.uid);
  return info;
}

}  // namespace tenon::tcp
