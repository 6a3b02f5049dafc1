#pragma once
// Which implementation fills a place, and with what options: what a manifest writes as `json` or
// `{ use: gzip, min_size: 4KiB }`, and code as Component("json") or Component::of("gzip", GzipOptions{…}).

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/core_export.hpp"
#include "tenon/describe.hpp"
#include "tenon/type.hpp"

namespace tenon {

namespace manifest {
struct Place;
}

/// A choice, not yet built; the position of a Component decides its kind. Cheap to copy; immutable.
/// Threads: const functions from any. Ownership: keeps its options (and the manifest they came from) alive.
class TENON_CORE Component {
 public:
  /// Nothing chosen: core's default, or none where there is no default.
  Component() = default;
  /// The implementation `use` with its default options, or a component of the App that has this name.
  Component(std::string use) : use_(std::move(use)) {}  // NOLINT(google-explicit-constructor)
  Component(const char* use) : use_(use) {}             // NOLINT(google-explicit-constructor)
  /// The implementation `use` with `options`, an object of the class its plugin calls Options.
  template <class Options>
  static Component of(std::string use, Options options) {
    Component component(std::move(use));
    component.options_ = std::make_shared<const Options>(std::move(options));
    component.options_type_ = &message_type<Options>();
    return component;
  }
  /// From a manifest. `own_keys` are the keys of the place that belong to core and not to the implementation.
  static Component at(std::string use, std::shared_ptr<const manifest::Place> place,
                      std::vector<std::string_view> own_keys);

  explicit operator bool() const noexcept { return !use_.empty(); }
  const std::string& use() const noexcept { return use_; }
  /// Where it stands in the manifest; null for a component made in code or written as a bare name.
  const std::shared_ptr<const manifest::Place>& place() const noexcept { return place_; }
  const std::vector<std::string_view>& own_keys() const noexcept { return own_keys_; }
  /// True when it is only a name, without options of its own.
  bool bare() const noexcept { return bare_ && !options_; }
  /// Options given in code, of *options_type(); null: none.
  const void* options() const noexcept { return options_.get(); }
  const MessageType* options_type() const noexcept { return options_type_; }

 private:
  friend struct ValueTraits<Component>;
  std::string use_;
  bool bare_ = true;
  std::shared_ptr<const void> options_;
  const MessageType* options_type_ = nullptr;
  std::shared_ptr<const manifest::Place> place_;
  std::vector<std::string_view> own_keys_;
};

/// A component whose keys stand among those of the entry that holds it: a listen entry's address and protocols are
/// core's, `use` names the transport, and every other key is that transport's option.
struct InlineComponent : Component {
  using Component::Component;
  InlineComponent() = default;
  InlineComponent(Component component) : Component(std::move(component)) {}  // NOLINT(google-explicit-constructor)
};

/// A Writer that wants a Component itself; other writers get its name as text.
class TENON_CORE ComponentWriter : public Writer {
 public:
  ~ComponentWriter() override;
  virtual void component(const Component& component) = 0;
};

template <>
struct ValueTraits<Component> {
  static constexpr std::string_view slot = "component";
  static constexpr Type type() { return {.kind = Kind::component, .component_kind = slot}; }
  static bool present(const Component& component) { return static_cast<bool>(component); }
  TENON_CORE static void write(const Component& component, Writer& writer);
  TENON_CORE static bool read(Component& component, Reader& reader);
};

template <>
struct ValueTraits<InlineComponent> {
  static constexpr std::string_view slot = "inline component";
  static constexpr Type type() { return {.kind = Kind::component, .component_kind = slot}; }
  static bool present(const InlineComponent& component) { return static_cast<bool>(component); }
  static void write(const InlineComponent& component, Writer& writer) {
    ValueTraits<Component>::write(component, writer);
  }
  TENON_CORE static bool read(InlineComponent& component, Reader& reader);
};

}  // namespace tenon
