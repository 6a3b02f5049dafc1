#include "memory_transport.hpp"

#include <algorithm>

#include "memory_listener.hpp"

namespace tenon::mem {

namespace {
constexpr std::size_t longest_name = 255;
constexpr std::uint64_t largest_buffer = 1u << 30;

Error refuse(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }
Error unavailable(std::string text) {
  return Error(Errc::unavailable, std::move(text), Delivery::not_run, Advice::other_instance);
}
}  // namespace

Result<std::unique_ptr<MemoryTransport>> MemoryTransport::create(Options options, Environment) {
  if (options.buffer.bytes == 0 || options.buffer.bytes > largest_buffer)
    return refuse("buffer goes from 1 byte to 1GiB");
  if (options.backlog == 0) return refuse("backlog is 0; no connection could be accepted");
  return std::unique_ptr<MemoryTransport>(new MemoryTransport(options));
}

Result<void> MemoryTransport::check(std::string_view address) const {
  if (address.empty()) return refuse("memory address is empty; any name will do");
  if (address.size() > longest_name) return refuse("memory address is longer than 255 bytes");
  const bool control = std::any_of(address.begin(), address.end(), [](unsigned char c) { return c < 32 || c == 127; });
  if (control) return refuse("memory address holds a control character");
  return {};
}

Task<Result<std::unique_ptr<ByteStream>>> MemoryTransport::connect(const std::string& address, Executor& home,
                                                                   TimePoint deadline) const {
  return ready(connect_now(address, home, deadline));
}

Result<std::unique_ptr<ByteStream>> MemoryTransport::connect_now(const std::string& address, Executor& home,
                                                                 TimePoint deadline) const {
  if (auto checked = check(address); !checked.ok()) return std::move(checked).error();
  if (home.clock().now() >= deadline)
    return Error(Errc::deadline_exceeded, "memory:" + address + ": the deadline passed before connecting",
                 Delivery::not_run);
  Rendezvous& rendezvous = Rendezvous::of_process();
  const std::shared_ptr<Doorway> doorway = rendezvous.find(address);
  if (!doorway)
    return unavailable("memory:" + address + ": connection refused (nobody in this process listens on that name)");
  const std::uint64_t number = rendezvous.number();
  auto duplex = std::make_shared<Duplex>(options_.buffer.bytes);
  const std::string peer = "memory:" + address;
  auto stream = std::make_unique<MemoryStream>(duplex, 0, home, peer + "#" + std::to_string(number), peer);
  switch (doorway->enter({std::move(duplex), number})) {
    case Doorway::Entry::taken: break;
    case Doorway::Entry::closed: return unavailable(peer + ": connection refused (the listener was just closed)");
    case Doorway::Entry::full:
      return unavailable(peer + ": connection refused (" + std::to_string(options_.backlog) +
                         " connections wait to be accepted already)");
  }
  return std::unique_ptr<ByteStream>(std::move(stream));
}

Result<std::unique_ptr<Listener>> MemoryTransport::listen(const std::string& address, Executor& home) const {
  if (auto checked = check(address); !checked.ok()) return std::move(checked).error();
  auto doorway = std::make_shared<Doorway>(address, home, options_.backlog);
  if (!Rendezvous::of_process().add(doorway))
    return Error(Errc::unavailable, "memory:" + address + ": address already in use", Delivery::not_run);
  return std::unique_ptr<Listener>(std::make_unique<MemoryListener>(std::move(doorway)));
}

}  // namespace tenon::mem
