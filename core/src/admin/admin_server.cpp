#include "admin/admin_server.hpp"

#include <sys/stat.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "admin/service.hpp"
#include "server/descriptors.hpp"

namespace tenon::admin {

namespace {

constexpr std::size_t max_connections = 64;
constexpr std::size_t max_in_flight = 64;
constexpr std::uint32_t max_headers = 16u << 10;
constexpr std::uint32_t max_header_count = 64;
constexpr mode_t wanted_mode = 0600;
constexpr std::chrono::milliseconds last_answers(700);  // a look takes 500 ms at most

// A transport that has another idea of modes must not open this door.
Result<void> check_mode(const std::string& address) {
  const std::string file = address.substr(address.find(':') + 1);
  struct stat made {};
  if (::lstat(file.c_str(), &made) != 0)
    return Error(Errc::unavailable, address + ": the socket is not there: " + std::strerror(errno), Delivery::not_run);
  const mode_t mode = made.st_mode & 07777;
  if (S_ISSOCK(made.st_mode) && mode == wanted_mode) return {};
  char octal[16];
  std::snprintf(octal, sizeof octal, "0%o", static_cast<unsigned>(mode));
  return Error(Errc::unavailable, address + ": must be a socket of mode 0600, is of mode " + octal, Delivery::not_run);
}

Result<void> offer(ServerSettings& settings, std::shared_ptr<Service> service) {
  const ServiceName name{std::string(service->interface()), "", ""};
  return settings.dispatcher.add(
      std::make_unique<Offered>(name, std::move(service), std::vector<std::shared_ptr<Filter>>()));
}

}  // namespace

Result<std::unique_ptr<AdminServer>> AdminServer::start(Parts parts, std::shared_ptr<AppFacts> facts) {
  if (auto checked = parts.transport->check(parts.address); !checked.ok()) return std::move(checked).error();
  auto loop = std::make_shared<Loop>();
  auto settings = std::make_unique<ServerSettings>();
  settings->log = parts.log;
  settings->encodings = std::move(parts.encodings);
  settings->limits = Limits{max_frame, max_headers, max_header_count, max_in_flight};
  settings->max_in_flight = max_in_flight;
  settings->max_connections = max_connections;
  settings->connection.max_unwritten = max_frame;
  settings->connection.pause_reading = true;
  std::shared_ptr<Service> service = make_admin(std::move(facts), loop);
  const std::vector<std::shared_ptr<Service>> described{service};
  for (const auto& offered : {service, make_descriptors(described)})
    if (auto added = offer(*settings, offered); !added.ok()) return std::move(added).error();

  loop->start();
  std::unique_ptr<AdminServer> admin(new AdminServer(std::move(settings), std::move(loop)));
  if (auto bound = admin->server_->listen(parts.address, std::move(parts.transport), std::move(parts.protocols));
      !bound.ok())
    return std::move(bound).error();
  if (auto checked = check_mode(parts.address); !checked.ok()) return std::move(checked).error();
  admin->server_->start();
  return admin;
}

AdminServer::AdminServer(std::unique_ptr<ServerSettings> settings, std::shared_ptr<Loop> loop)
    : loop_(std::move(loop)), server_(std::make_unique<Server>(std::move(settings), std::vector<Loop*>{loop_.get()})) {}

AdminServer::~AdminServer() {
  const Error reason(Errc::unavailable, "the application ends", Delivery::not_run, Advice::never);
  server_->drain(reason);
  const auto until = std::chrono::steady_clock::now() + last_answers;
  while (server_->settings().in_flight.load() != 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  server_->force(reason);
  while (!server_->idle() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const bool idle = server_->idle();
  loop_->stop();
  if (!idle) (void)server_.release();  // something of it never ends; leaking it is the lesser evil
}

}  // namespace tenon::admin
