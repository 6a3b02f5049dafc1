#include "component/effective_config.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "component/leaves.hpp"
#include "manifest/load.hpp"
#include "manifest/reader.hpp"
#include "tenon/call.hpp"
#include "tenon/registry.hpp"

namespace tenon {

namespace {

constexpr const char* by_default = "default";
constexpr const char* by_program = "program";

using Texts = std::map<std::string, std::string>;

/// The text of every leaf by path, a component's being its name.
class TextCollector final : public LeafVisitor {
 public:
  static Texts of(const MessageType& type, const void* object, const std::string& path) {
    TextCollector collector;
    LeafWriter writer(path, collector);
    type.write(object, writer);
    return std::move(collector.texts_);
  }
  void leaf(Leaf leaf) override { texts_.insert_or_assign(std::move(leaf.path), std::move(leaf.text)); }
  void component(const std::string& path, const std::string&, std::string_view, const Component& chosen) override {
    texts_.insert_or_assign(path, chosen.use());
  }
  void message(const std::string&, const MessageType&) override {}

 private:
  TextCollector() = default;
  Texts texts_;
};

struct DefaultObject {
  explicit DefaultObject(const MessageType& t) : type(t), object(t.create()) {}
  DefaultObject(const DefaultObject&) = delete;
  DefaultObject& operator=(const DefaultObject&) = delete;
  ~DefaultObject() { type.destroy(object); }
  const MessageType& type;
  void* object;
};

std::optional<std::string> found(const Texts& texts, const std::string& path) {
  const auto at = texts.find(path);
  if (at == texts.end()) return std::nullopt;
  return at->second;
}

/// Walks the options as they are used and compares with what was given, written and is default.
class Walk final : public LeafVisitor, private manifest::ComponentSource {
 public:
  Walk(const AppOptions& given, const plugin_host::LoadedCatalog& catalog)
      : given_(given), catalog_(catalog), document_(given.source) {}

  std::vector<admin::ConfigValue> run() {
    const MessageType& type = message_type<AppOptions>();
    given_texts_ = TextCollector::of(type, &given_, "");
    if (document_) {
      manifest::Diagnostics known(document_->file);
      const AppOptions written = manifest::read_options(document_, known);
      written_texts_ = TextCollector::of(type, &written, "");
    }
    AppOptions used = given_;
    apply_defaults(used);
    LeafWriter writer("", *this);
    type.write(&used, writer);
    return std::move(values_);
  }

  void leaf(Leaf leaf) override { add(leaf, origin(leaf.path, leaf.text, position(leaf.path))); }

  void component(const std::string& path, const std::string& holder, std::string_view kind,
                 const Component& chosen) override {
    const std::optional<std::string> at = position(path + ".use");
    add({path, chosen.use()}, origin(path, chosen.use(), at ? at : position(path)));
    options_of(holder, kind, chosen);
  }

  void message(const std::string& path, const MessageType& type) override {
    const DefaultObject fresh(type);
    defaults_.merge(TextCollector::of(type, fresh.object, path));
  }

 private:
  /// A component that the options of another one ask for.
  struct Wanted {
    std::string kind;
    Component chosen;
  };
  /// The leaves of one component's options.
  struct OptionVisitor final : LeafVisitor {
    OptionVisitor(Walk& w, Texts d) : walk(w), defaults(std::move(d)) {}
    void leaf(Leaf leaf) override {
      if (const auto asked = walk.wanted_.extract(leaf.path)) {
        walk.named(leaf.path, asked.mapped());
        return;
      }
      const std::optional<std::string> at = walk.position(leaf.path);
      const bool is_default = found(defaults, leaf.path) == leaf.text;
      walk.add(leaf, written && at ? *at : is_default ? by_default : by_program);
    }
    // An option that is a component is absent here: nothing was built.
    void component(const std::string& path, const std::string&, std::string_view, const Component&) override {
      leaf({path, {}});
    }
    void message(const std::string& path, const MessageType& type) override {
      const DefaultObject fresh(type);
      defaults.merge(TextCollector::of(type, fresh.object, path));
    }
    Walk& walk;
    Texts defaults;
    bool written = false;  // in the manifest
  };

  std::optional<std::string> position(const std::string& path) const {
    if (!document_) return std::nullopt;
    const manifest::Node* node = document_->find(path);
    if (!node && path.ends_with("[0]")) {
      // The only text or component of a list may stand without brackets.
      node = document_->find(path.substr(0, path.size() - 3));
      if (node && node->kind == manifest::Node::Kind::list) node = nullptr;
    }
    if (!node) return std::nullopt;
    return manifest::at(manifest::Place{document_, node, path});
  }

  // `text` at `path` is one of core's own options.
  std::string origin(const std::string& path, const std::string& text, const std::optional<std::string>& at) const {
    if (found(given_texts_, path) != text) return by_default;  // filled in by apply_defaults()
    if (at && found(written_texts_, path) == text) return *at;
    return found(defaults_, path) == text ? by_default : by_program;
  }

  void add(const Leaf& leaf, std::string origin) {
    values_.push_back({leaf.path, shown_text(leaf), std::move(origin)});
  }

  // Refers to a component that is shown elsewhere.
  bool refers(std::string_view kind, const Component& chosen) const {
    if (!chosen.bare()) return false;
    if (kind == Registry::kind && given_.registries.contains(chosen.use())) return true;
    if (kind == Invoker::kind && given_.client.references.contains(chosen.use())) return true;
    const auto of_kind = given_.components.find(std::string(kind));
    return of_kind != given_.components.end() && of_kind->second.contains(chosen.use());
  }

  void named(const std::string& path, const Wanted& wanted) {
    const std::optional<std::string> use = position(path + ".use");
    const std::optional<std::string> at = use ? use : position(path);
    add({path, wanted.chosen.use()}, at ? *at : by_program);
    options_of(path, wanted.kind, wanted.chosen);
  }

  void options_of(const std::string& holder, std::string_view kind, const Component& chosen) {
    if (!chosen || refers(kind, chosen)) return;
    if (chosen.options()) {
      const DefaultObject fresh(*chosen.options_type());
      OptionVisitor visitor(*this, TextCollector::of(fresh.type, fresh.object, holder));
      LeafWriter writer(holder, visitor);
      fresh.type.write(chosen.options(), writer);
      return;
    }
    const plugin_host::LoadedEntry* const entry = catalog_.find(kind, chosen.use());
    if (!entry) return;
    const MessageType& type = *entry->entry.options;
    const DefaultObject options(type);
    OptionVisitor visitor(*this, TextCollector::of(type, options.object, holder));
    std::map<std::string, Wanted> outer;
    outer.swap(wanted_);
    if (!chosen.bare() && chosen.place()) {
      visitor.written = true;
      manifest::Diagnostics known(chosen.place()->document->file);  // the builder has told them
      manifest::ManifestReader reader(*chosen.place(), known, this, chosen.own_keys());
      reader.read(type, options.object);
    }
    LeafWriter writer(holder, visitor);
    type.write(options.object, writer);
    // Components in lists and maps leave no trace in what is written.
    while (!wanted_.empty()) {
      const auto asked = wanted_.extract(wanted_.begin());
      named(asked.key(), asked.mapped());
    }
    wanted_.swap(outer);
  }

  Result<std::shared_ptr<void>> build(std::string_view kind, const Component& chosen,
                                      const std::string& path) override {
    wanted_.insert_or_assign(path, Wanted{std::string(kind), chosen});
    return std::shared_ptr<void>();
  }

  const AppOptions& given_;
  const plugin_host::LoadedCatalog& catalog_;
  const std::shared_ptr<const manifest::Document> document_;
  Texts given_texts_;
  Texts written_texts_;
  Texts defaults_;
  std::map<std::string, Wanted> wanted_;  // by the options being read
  std::vector<admin::ConfigValue> values_;
};

}  // namespace

std::vector<admin::ConfigValue> effective_config(const AppOptions& given, const plugin_host::LoadedCatalog& catalog) {
  return Walk(given, catalog).run();
}

}  // namespace tenon
