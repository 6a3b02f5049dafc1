#pragma once
// Members whose figures the test writes, and picks among them.

#include <memory>
#include <string>
#include <vector>

#include "tenon/cluster.hpp"

namespace tenon::test {

class FiguredEndpoint final : public Endpoint {
 public:
  explicit FiguredEndpoint(Instance instance) : is(std::move(instance)) {}
  Task<Result<Response>> call(Request&) override { return ready<Result<Response>>(Response()); }
  Health health() const noexcept override { return state; }
  const Instance& instance() const noexcept override { return is; }
  const Stats& stats() const noexcept override { return figures; }
  std::uint32_t effective_weight() const noexcept override { return is.serving ? is.weight * part : 0; }

  Instance is;
  Stats figures;
  Health state = Health::open;
  std::uint32_t part = 100;  ///< of the weight, in percent
};

/// A set of members.
class Crew {
 public:
  FiguredEndpoint& add(const std::string& address, std::uint32_t weight = 100, const std::string& id = {}) {
    Instance instance;
    instance.id = id.empty() ? address : id;
    instance.address = address;
    instance.transport = "tcp";
    instance.weight = weight;
    endpoints.push_back(std::make_shared<FiguredEndpoint>(std::move(instance)));
    members.push_back(endpoints.back());
    return *endpoints.back();
  }
  int pick(Picker& picker, Tried tried = 0, Eligible::Closed closed = Eligible::Closed::no) {
    return picker.pick(request, Eligible(members, tried, closed));
  }
  int pick_key(Picker& picker, std::uint64_t key, Tried tried = 0) {
    request.hash_key = key;
    return pick(picker, tried);
  }
  /// Who it is, "-": nobody.
  std::string name(int position) const {
    return position < 0 ? "-" : endpoints.at(static_cast<std::size_t>(position))->is.address;
  }
  std::vector<int> counts(Picker& picker, int picks) {
    std::vector<int> counts(members.size(), 0);
    for (int i = 0; i < picks; ++i)
      if (const int chosen = pick(picker); chosen >= 0) ++counts[static_cast<std::size_t>(chosen)];
    return counts;
  }
  FiguredEndpoint& operator[](std::size_t position) { return *endpoints[position]; }

  std::vector<std::shared_ptr<FiguredEndpoint>> endpoints;
  Members members;
  static inline const Target target{};
  Request request{target};
};

}  // namespace tenon::test
