#include "component/builder.hpp"

#include <algorithm>

#include "manifest/nearest.hpp"
#include "tenon/describe.hpp"

namespace tenon {

namespace {

using plugin_host::LoadedEntry;

// Where a component stands: "file:line:col: path", or the path alone for options from code.
std::string where(const Component& component, const std::string& path) {
  return component.place() ? manifest::at(*component.place()) + ": " + path : path;
}

Error refuse(const Component& component, const std::string& path, const std::string& what) {
  return Error(Errc::config, where(component, path) + ": " + what, Delivery::not_run);
}

// Are two described structs, seen by two libraries, one class?
bool same_class(const MessageType& a, const MessageType& b) {
  if (&a == &b) return true;
  const auto* const one = dynamic_cast<const described::DescribedType*>(&a);
  const auto* const two = dynamic_cast<const described::DescribedType*>(&b);
  if (!one || !two || !one->same_class(*two)) return false;
  return std::equal(a.fields().begin(), a.fields().end(), b.fields().begin(), b.fields().end(),
                    [](const Field& x, const Field& y) { return x.name == y.name && x.type->kind == y.type->kind; });
}

struct OptionsObject {
  explicit OptionsObject(const MessageType& t) : type(t), object(t.create()) {}
  OptionsObject(const OptionsObject&) = delete;
  OptionsObject& operator=(const OptionsObject&) = delete;
  ~OptionsObject() { type.destroy(object); }
  const MessageType& type;
  void* object;
};

// Marks a named component as under construction for as long as it lives.
class Building {
 public:
  Building(std::vector<std::pair<std::string, std::string>>& stack, std::string kind, std::string name)
      : stack_(stack) {
    stack_.emplace_back(std::move(kind), std::move(name));
  }
  Building(const Building&) = delete;
  Building& operator=(const Building&) = delete;
  ~Building() { stack_.pop_back(); }

 private:
  std::vector<std::pair<std::string, std::string>>& stack_;
};

}  // namespace

void ComponentBuilder::name(std::string kind, std::string name, Component component, std::string path) {
  named_[{std::move(kind), std::move(name)}] = Named{std::move(component), std::move(path), nullptr, false};
}

void ComponentBuilder::provide(std::string kind, Provider provider) {
  providers_[std::move(kind)] = std::move(provider);
}

ComponentBuilder::Named* ComponentBuilder::find_named(std::string_view kind, std::string_view name) {
  const auto found = named_.find({std::string(kind), std::string(name)});
  return found == named_.end() ? nullptr : &found->second;
}

Result<std::shared_ptr<void>> ComponentBuilder::build_named(std::string_view kind, std::string_view name) {
  Named* named = find_named(kind, name);
  if (named && named->built) return named->built;
  const Key key{std::string(kind), std::string(name)};
  if (const auto begun = std::find(building_.begin(), building_.end(), key); begun != building_.end()) {
    std::string cycle;
    for (auto it = begun; it != building_.end(); ++it) cycle += it->first + " \"" + it->second + "\" -> ";
    return Error(Errc::config, "components need each other: " + cycle + key.first + " \"" + key.second + '"',
                 Delivery::not_run);
  }
  const Building under_construction(building_, key.first, key.second);
  Result<std::shared_ptr<void>> made = std::shared_ptr<void>();
  if (named && !named->provided) {
    made = build_plain(kind, named->component, named->path);
  } else if (const auto provider = providers_.find(kind); provider != providers_.end()) {
    made = provider->second(name);
  }
  if (!made.ok()) return made;
  if (!*made) {
    std::vector<std::string_view> names;
    for (const auto& [known, entry] : named_)
      if (known.first == kind) names.push_back(known.second);
    return Error(Errc::config, "there is no " + key.first + " called \"" + key.second + '"' + did_you_mean(name, names),
                 Delivery::not_run);
  }
  Named& entry = named_[key];
  if (!named) entry.provided = true;
  entry.built = *made;
  return made;
}

Result<std::shared_ptr<void>> ComponentBuilder::build(std::string_view kind, const Component& component,
                                                      const std::string& path) {
  if (!component) return refuse(component, path, "no " + std::string(kind) + " is chosen");
  const bool by_name = component.bare() && (find_named(kind, component.use()) || providers_.contains(kind));
  if (!by_name) return build_plain(kind, component, path);
  Result<std::shared_ptr<void>> made = build_named(kind, component.use());
  if (made.ok()) return made;
  std::string text = made.error().text();
  // A failure inside the named component says itself where it happened.
  const bool placed = component.place() && text.starts_with(component.place()->document->file + ':');
  return placed ? Error(Errc::config, std::move(text), Delivery::not_run) : refuse(component, path, text);
}

Result<void> ComponentBuilder::fill_options(const LoadedEntry& entry, const Component& component,
                                            const std::string& path, void* options) {
  const MessageType& type = *entry.entry.options;
  if (component.options()) {
    if (!same_class(*component.options_type(), type))
      return refuse(component, path,
                    "its options are a " + std::string(component.options_type()->name()) + ", but " +
                        std::string(entry.entry.kind) + " \"" + entry.entry.name + "\" of " + entry.origin +
                        " takes a " + std::string(type.name()));
    type.copy(component.options(), options);
    return {};
  }
  if (component.bare() || !component.place()) return {};
  const manifest::Place& place = *component.place();
  manifest::Diagnostics diagnostics(place.document->file);
  manifest::ManifestReader reader(place, diagnostics, this, component.own_keys());
  reader.read(type, options);
  if (diagnostics.empty()) return {};
  return Error(Errc::config, diagnostics.text(), Delivery::not_run);
}

Result<std::shared_ptr<void>> ComponentBuilder::build_plain(std::string_view kind, const Component& component,
                                                            const std::string& path) {
  const LoadedEntry* const entry = host_.catalog().find(kind, component.use());
  if (!entry) return refuse(component, path, host_.why_missing(kind, component.use()));
  const OptionsObject options(*entry->entry.options);
  if (auto filled = fill_options(*entry, component, path, options.object); !filled.ok())
    return std::move(filled).error();
  Result<std::shared_ptr<void>> made = entry->entry.create(options.object, environment_);
  if (made.ok() && !*made)
    return refuse(component, path, std::string(kind) + " \"" + component.use() + "\" made nothing");
  if (made.ok()) return made;
  Error error = std::move(made).error();
  error.prefix(where(component, path) + ": " + std::string(kind) + " \"" + component.use() + '"');
  return error;
}

}  // namespace tenon
