#pragma once
// Components as options of other components: no back door into core is needed.

#include <memory>
#include <string>
#include <string_view>

#include "tenon/type.hpp"

namespace tenon {

/// An option that is itself a component of kind K, named or written inline:
///   limiter: main                 # a component named elsewhere in the manifest
///   limiter: { use: tokens, rate: 100 }
/// K = Invoker: a reference's name, or a fixed address. Core builds it first; cycles are errors.
template <class K>
struct Use {
  std::shared_ptr<K> component;
  K* operator->() const noexcept { return component.get(); }
  K& operator*() const noexcept { return *component; }
  explicit operator bool() const noexcept { return component != nullptr; }
};

/// Where a reader puts the component a Use<K> asks for.
class ComponentSlot {
 public:
  explicit ComponentSlot(std::string_view kind) : kind_(kind) {}
  std::string_view kind() const noexcept { return kind_; }
  /// `component` points to the K itself.
  void fill(std::shared_ptr<void> component) noexcept { component_ = std::move(component); }
  std::shared_ptr<void> take() noexcept { return std::move(component_); }

 private:
  std::string_view kind_;
  std::shared_ptr<void> component_;
};

}  // namespace tenon
