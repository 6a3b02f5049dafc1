#pragma once
// Which service and which instance are meant, as the command line says it.

#include <string>
#include <string_view>
#include <vector>

#include "tenon/registry.hpp"

namespace tenon::cli {

/// "[GROUP/]INTERFACE[:VERSION]", as ServiceName::text() prints it. What is left out may be anything.
class ServiceQuery {
 public:
  /// Any service, or any of `group` unless it is empty.
  explicit ServiceQuery(std::string group = {}) { wanted_.group = std::move(group); }
  /// `group`: from an option of its own; empty: not given.
  /// Fails with: config (no interface; another group in the text than `group`).
  static Result<ServiceQuery> parse(std::string_view text, const std::string& group);

  bool matches(const ServiceName& service) const noexcept;
  /// The one service that is meant: of several, the candidates are listed. Of none, a service of exactly what was
  /// said, if `unknown` may be, for somebody who waits for it.
  /// Fails with: not_found, invalid_argument (several).
  Result<ServiceName> one_of(const std::vector<ServiceName>& services, bool unknown) const;
  /// As it was said.
  std::string text() const { return wanted_.text(); }
  const std::string& group() const noexcept { return wanted_.group; }

 private:
  ServiceName wanted_;
};

/// The one instance of `service` that has this id, or else this address.
/// Fails with: not_found, invalid_argument (several have the address); both list the candidates.
Result<Instance> find_instance(const std::vector<Instance>& instances, const std::string& id_or_address,
                               const ServiceName& service);

}  // namespace tenon::cli
