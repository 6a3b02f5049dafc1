#pragma once
// What a plugin offers, and how core makes it. A plugin's install function adds (kind, name) pairs to the Catalog it
// is given. There is no global registry: two Apps in one process have two Catalogs.

#include <memory>
#include <string>
#include <string_view>

#include "tenon/describe.hpp"
#include "tenon/environment.hpp"
#include "tenon/result.hpp"
#include "tenon/type.hpp"

namespace tenon {

/// Plugins' classes state their settings as `using Options = …;`, a described struct whose default-constructed value
/// holds the defaults. A class without settings uses this.
struct NoOptions {};
BOOST_DESCRIBE_STRUCT(NoOptions, (), ())

/// One implementation of one kind.
struct CatalogEntry {
  std::string_view kind;  ///< "filter", "registry", … or a kind the plugin itself defines
  std::string name;       ///< unique within the kind
  const MessageType* options = nullptr;
  /// Makes a component. `options` is an object of `*this->options`, moved from. The result points to the Kind
  /// (not to the implementation class) and deletes itself correctly.
  /// Exceptions of the constructor are turned into errors.
  Result<std::shared_ptr<void>> (*create)(void* options, Environment environment) = nullptr;
};

/// Receives a plugin's implementations while it is installed.
/// Threads: one at a time (start-up). Ownership: entries are copied; what they point to lives as long as the plugin
/// (for ever: plugins are not unloaded).
class TENON_SPI Catalog {
 public:
  virtual ~Catalog();

  /// Adds implementation Impl of interface Kind under `name`. Impl owes `using Options` (described) and
  /// `static Result<std::unique_ptr<Impl-or-Kind>> create(Options, Environment)`; Kind owes
  /// `static constexpr std::string_view kind`.
  /// A second (kind, name) is refused by core, naming both files.
  template <class Kind, class Impl>
  void add(std::string_view name) {
    CatalogEntry entry;
    entry.kind = Kind::kind;
    entry.name = name;
    entry.options = &message_type<typename Impl::Options>();
    entry.create = &make<Kind, Impl>;
    add(entry);
  }
  virtual void add(const CatalogEntry& entry) = 0;

 private:
  template <class Kind, class Impl>
  static Result<std::shared_ptr<void>> make(void* options, Environment environment) {
    try {
      auto made = Impl::create(std::move(*static_cast<typename Impl::Options*>(options)), environment);
      if (!made.ok()) return std::move(made).error();
      std::unique_ptr<Kind> component = std::move(*made);
      return std::shared_ptr<void>(std::shared_ptr<Kind>(std::move(component)));
    } catch (const std::exception& e) {
      return Error(Errc::config, std::string("exception while creating it: ") + e.what(), Delivery::not_run);
    } catch (...) {
      return Error(Errc::config, "unknown exception while creating it", Delivery::not_run);
    }
  }
};

}  // namespace tenon
