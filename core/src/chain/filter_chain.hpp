#pragma once
#include <exception>
#include <memory>
#include <vector>

#include "tenon/filter.hpp"

namespace tenon {

/// Filters in front of an invoker, outermost first. With no filters, first() is the innermost invoker itself: an empty
/// chain costs nothing.
/// Ownership: `last` must outlive the chain.
class FilterChain {
 public:
  FilterChain(std::vector<std::shared_ptr<Filter>> filters, Invoker& last) {
    Invoker* next = &last;
    for (auto at = filters.rbegin(); at != filters.rend(); ++at) {
      steps_.push_back(std::make_unique<Step>(std::move(*at), *next));
      next = steps_.back().get();
    }
    first_ = next;
  }
  Invoker& first() const noexcept { return *first_; }
  bool empty() const noexcept { return steps_.empty(); }

 private:
  class Step final : public Invoker {
   public:
    Step(std::shared_ptr<Filter> filter, Invoker& next) : filter_(std::move(filter)), next_(next) {}
    Task<Result<Response>> call(Request& request) override {
      try {
        return filter_->apply(request, next_);
      } catch (...) {
        // One that is not a coroutine threw: to whoever awaits it, as if it were one.
        return thrown(std::current_exception());
      }
    }
    Health health() const noexcept override { return next_.health(); }

   private:
    static Task<Result<Response>> thrown(std::exception_ptr exception) {
      std::rethrow_exception(exception);
      co_return Response();
    }
    std::shared_ptr<Filter> filter_;
    Invoker& next_;
  };
  std::vector<std::unique_ptr<Step>> steps_;  // innermost first
  Invoker* first_ = nullptr;
};

}  // namespace tenon
