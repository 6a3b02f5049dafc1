// The part of ManifestReader that reads choices of components.

#include "manifest/reader.hpp"
#include "manifest/scalar.hpp"
#include "tenon/component.hpp"

namespace tenon::manifest {

namespace {

constexpr std::string_view use_key = "use";

bool is_null(const Node& node) noexcept {
  return node.kind == Node::Kind::null || (node.kind == Node::Kind::scalar && !node.quoted && is_null_text(node.text));
}

bool is_name(const Node& node) noexcept {
  return node.kind == Node::Kind::scalar && !node.text.empty() && !is_null(node);
}

// The node that names the implementation: the scalar itself, or a map's "use"; null: a map without it.
const Node* name_node(const Node& node) noexcept {
  if (node.kind != Node::Kind::map) return &node;
  const Entry* const entry = node.find(use_key);
  return entry ? &entry->value : nullptr;
}

}  // namespace

bool ManifestReader::inline_component(const Node& node, ComponentSlot& slot) {
  auto made = std::make_shared<InlineComponent>();
  std::vector<std::string_view> own = levels_.empty() ? std::vector<std::string_view>() : levels_.back().known;
  const Node* const use = name_node(node);
  if (use && !is_name(*use)) {
    expect(*use, "the name of an implementation");
  } else if (use) {
    auto place = std::make_shared<const Place>(Place{place_.document, &node, path_});
    *made = InlineComponent(Component::at(use->text, std::move(place), std::move(own)));
  }
  slot.fill(std::move(made));
  return true;
}

bool ManifestReader::component(ComponentSlot& slot) {
  if (failed()) return false;
  const Node& node = take();
  if (slot.kind() == ValueTraits<InlineComponent>::slot) return inline_component(node, slot);
  const bool wanted_unbuilt = slot.kind() == ValueTraits<Component>::slot;
  Component chosen;
  if (node.kind == Node::Kind::list || is_null(node)) {
    expect(node, "a component: its name, or a map with \"use\"");
  } else {
    const Node* const use = name_node(node);
    auto place = std::make_shared<const Place>(Place{place_.document, &node, path_});
    if (!use) {
      wrong(node, "names no implementation; add \"use: <name>\"");
    } else if (!is_name(*use)) {
      expect(*use, "the name of an implementation");
    } else {
      chosen = Component::at(use->text, std::move(place), {use_key});
    }
  }
  if (wanted_unbuilt) {
    slot.fill(std::make_shared<Component>(std::move(chosen)));
    return true;
  }
  if (!chosen) return true;
  if (!source_) {
    wrong(node, "a component (" + std::string(slot.kind()) + ") cannot stand here");
    return true;
  }
  Result<std::shared_ptr<void>> built = source_->build(slot.kind(), chosen, path_);
  if (built.ok()) {
    slot.fill(std::move(*built));
  } else {
    diagnostics_.add_lines(node.at, built.error().text());
  }
  return true;
}

}  // namespace tenon::manifest
