// The interfaces' destructors: one vtable each, here, for the whole process.
#include "tenon/catalog.hpp"
#include "tenon/clock.hpp"
#include "tenon/cluster.hpp"
#include "tenon/executor.hpp"
#include "tenon/filter.hpp"
#include "tenon/frame.hpp"
#include "tenon/log.hpp"
#include "tenon/plugin.hpp"
#include "tenon/protocol.hpp"
#include "tenon/registry.hpp"
#include "tenon/serializer.hpp"
#include "tenon/service.hpp"
#include "tenon/transport.hpp"

#include <algorithm>

namespace tenon {

Balancer::~Balancer() = default;
ByteStream::~ByteStream() = default;
Candidates::~Candidates() = default;
Catalog::~Catalog() = default;
Clock::~Clock() = default;
Cluster::~Cluster() = default;
ClusterInvoker::~ClusterInvoker() = default;
Compressor::~Compressor() = default;
Dialer::~Dialer() = default;
Endpoint::~Endpoint() = default;
std::uint32_t Endpoint::effective_weight() const noexcept {
  const Instance& is = instance();
  return is.serving ? std::min(is.weight, weight_limit / 100) * 100 : 0;
}
TimePoint Endpoint::ejected_until() const noexcept { return {}; }
Executor::~Executor() = default;
Filter::~Filter() = default;
FrameSink::~FrameSink() = default;
HaStrategy::~HaStrategy() = default;
Invoker::~Invoker() = default;
Lease::~Lease() = default;
Listener::~Listener() = default;
Log::~Log() = default;
Messages::~Messages() = default;
Picker::~Picker() = default;
Protocol::~Protocol() = default;
Registry::~Registry() = default;
RegistryAdmin::~RegistryAdmin() = default;
Router::~Router() = default;
Router::Table::~Table() = default;
Serializer::~Serializer() = default;
Service::~Service() = default;
std::string_view Service::file_descriptor_set() const noexcept { return {}; }
void Service::draining() noexcept {}
Task<Result<void>> Service::warm_up() { return ready(Result<void>()); }
Session::~Session() = default;
std::int64_t Session::credit(std::uint32_t) const noexcept { return 0; }
Transport::~Transport() = default;
Watch::~Watch() = default;

Request parallel_attempt(const Request& request) {
  Request copy(*request.target);
  if (request.payload.has_value())
    copy.payload = Payload::borrow(*request.payload.type(), request.payload.value());
  else if (request.payload.is_encoded())
    copy.payload = Payload::borrow_encoded(request.payload.encoding(), request.payload.bytes());
  copy.headers = request.headers;
  copy.attachment = request.attachment;
  copy.deadline = request.deadline;
  copy.cancel = request.cancel;
  copy.info = request.info;
  copy.hash_key = request.hash_key;
  return copy;
}

const char spi_identity = 0;

std::string_view to_string(Shape shape) noexcept {
  switch (shape) {
    case Shape::unary: return "unary";
    case Shape::one_way: return "one_way";
    case Shape::server_stream: return "server_stream";
    case Shape::client_stream: return "client_stream";
    case Shape::bidi: return "bidi";
  }
  return "unknown";
}

std::string ServiceName::text() const {
  std::string text = group.empty() ? interface : group + "/" + interface;
  if (!version.empty()) text += ":" + version;
  return text;
}

}  // namespace tenon
