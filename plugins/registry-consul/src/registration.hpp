#pragma once
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "answers.hpp"
#include "tenon/registry.hpp"

namespace tenon::consul {

/// Something an agent is told to list, with a check that dies unless it is told to live.
struct Registration {
  std::string service;
  std::string id;
  std::vector<std::string> tags;
  std::string host;  ///< empty: the node's
  std::uint16_t port = 0;
  /// Tells this announcement's word from others', and each of its changes from the one before: "<owner>.<number>".
  std::string stamp;
  bool serving = true;  ///< else its check warns, so that who asks for passing ones does not get it
  std::chrono::milliseconds ttl{0};
  std::chrono::milliseconds deregister_after{0};
};

/// The id of its check, which Consul gives it by itself.
std::string check_id(std::string_view registration_id);
/// What is in front of the last dot of a stamp: who announced it.
std::string_view owner_of(std::string_view stamp) noexcept;
/// The stamp of what an agent lists; empty: it is not ours.
std::string stamp_of(const Registered& registered);

/// As Motan's: tags for its protocol and its URL. REQUIRES: the address is host:port.
Registration provider_registration(const ServiceName& service, const Instance& instance, std::string id);
/// Somebody who follows a service, by the URL Motan has for that. `host` may be empty.
Registration consumer_registration(const Subscription& subscription, const std::string& host, std::string id);
/// The body of /v1/agent/service/register.
std::string write_registration(const Registration& registration);

/// A provider, ours or Motan's.
struct Provider {
  std::string registration;  ///< its id
  std::string interface;
  std::string version;
  std::string stamp;  ///< empty: not ours
  Instance instance;
  bool dead = false;  ///< its check has not heard of it for its ttl, or its node is gone
};
/// By the URL in its tags, else by its address, its protocol and its id. Fails with: malformed.
Result<Provider> read_provider(const Registered& registered);
/// One that is no consumer of ours has an empty interface. Fails with: malformed.
struct Consumer {
  std::string interface;
  std::string version;
  Subscriber subscriber;
};
Result<Consumer> read_consumer(const Registered& registered);

/// Puts what an operator said over the provider; false: it was said about another, or before its own last word.
bool apply(const Word& word, Provider& provider);

}  // namespace tenon::consul
