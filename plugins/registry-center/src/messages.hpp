#pragma once
// What travels between a registry center and those who use it: the methods of service "tenon.Center". It is an
// ordinary service over any protocol of Tenon's that carries streams; described structs, so any serializer will do.
//
//   open(Opening) -> Opened            a client makes itself known; again after every loss of the center
//   beat(ClientKey) -> Beaten          I am alive, and so is what I announced; every Opened::beat_every
//   announce(ClientKey, ServiceName, Instance) -> void     puts it up, again after every loss; what operators set stays
//   update(ClientKey, ServiceName, Instance) -> void       the provider changes it (or puts it up, if it is not there):
//                                      what operators set ends
//   withdraw(ClientKey, ServiceName, id) -> void           at once, on purpose
//   close(ClientKey) -> void           withdraws everything
//   watch(ClientKey, ServiceName, subscriber) -> stream of List       first what is known, then after each change;
//                                      `subscriber` is the application, for operators
//   watch_document(ClientKey, kind, group) -> stream of Document
// and for operators, without a client:
//   services() -> list of ServiceName        groups() -> list of string        state() -> State
//   instances(ServiceName) -> list of Instance        subscribers(ServiceName) -> list of Subscriber
//   read(kind, group) -> Document        write(Document) -> void        remove(Document) -> void
//   set_weight(ServiceName, id, u32) -> void        set_serving(ServiceName, id, bool) -> void
//
// Errors: not_found (nobody opened this client: open again), permission_denied (a wrong token, or somebody else's
// instance), invalid_argument (names and sizes, limits.hpp), overloaded (too many), already_exists (a document's
// version).
//
// A center with a `token` wants it in open(); operators, who open nothing, send it in the header token_header. Writing
// operators (write, remove, set_weight, set_serving) send the `operator_token` there, when the center has one.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/describe.hpp"
#include "tenon/registry.hpp"

namespace tenon::center {

inline constexpr std::string_view interface = "tenon.Center";

/// The header by which operators prove themselves.
inline constexpr std::string_view token_header = "tenon-center-token";

/// Which client speaks. `secret` is chosen by the client, 128 random bits as 32 hexadecimal digits, and proves that it
/// is the one that announced before; nobody else is told.
struct ClientKey {
  std::string id;  ///< chosen by the client, unique: 32 hexadecimal digits, new in each process
  std::string secret;
};
BOOST_DESCRIBE_STRUCT(ClientKey, (), (id, secret))

struct Opening {
  ClientKey key;
  std::string name;   ///< "host/process id", for operators
  std::string token;  ///< the center's, when it wants one
};
BOOST_DESCRIBE_STRUCT(Opening, (), (key, name, token))

struct Opened {
  std::uint64_t epoch = 0;                 ///< of this run of the center; another one: it forgot every client
  std::chrono::milliseconds lease{};       ///< what is announced is dropped after so long a silence
  std::chrono::milliseconds beat_every{};  ///< between two beats
  bool known = false;                      ///< its instances of before are still there
};
BOOST_DESCRIBE_STRUCT(Opened, (), (epoch, lease, beat_every, known))

struct Beaten {
  std::uint64_t epoch = 0;
  std::uint32_t instances = 0;  ///< of this client that the center has; another number than announced: announce again
};
BOOST_DESCRIBE_STRUCT(Beaten, (), (epoch, instances))

/// All instances of a service. A counter makes the revision, which grows over the center's restarts, too.
struct List {
  std::uint64_t revision = 0;
  /// False: the center has not run for a lease yet, so providers may be missing; who knew some keeps them. Once it is
  /// true the list is sent again.
  bool whole = true;
  std::vector<Instance> instances;
  std::vector<std::string> withdrawn;  ///< ids that left on purpose during the last lease
};
BOOST_DESCRIBE_STRUCT(List, (), (revision, whole, instances, withdrawn))

/// What the center is doing, for operators.
struct State {
  std::uint64_t epoch = 0;
  std::uint32_t services = 0;
  std::uint32_t instances = 0;
  std::uint32_t clients = 0;  ///< that opened and are not silent
  std::uint32_t subscriptions = 0;
  std::uint32_t documents = 0;
  bool whole = true;        ///< it has run for a lease
  bool preserving = false;  ///< too many fell silent at once: nobody is dropped for the time being
  std::uint64_t revision = 0;
};
BOOST_DESCRIBE_STRUCT(State, (),
                      (epoch, services, instances, clients, subscriptions, documents, whole, preserving, revision))

}  // namespace tenon::center
