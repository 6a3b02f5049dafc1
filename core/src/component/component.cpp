#include "tenon/component.hpp"

#include "manifest/node.hpp"
#include "tenon/use.hpp"

namespace tenon {

Component Component::at(std::string use, std::shared_ptr<const manifest::Place> place,
                        std::vector<std::string_view> own_keys) {
  Component component(std::move(use));
  component.bare_ = place->node->kind == manifest::Node::Kind::scalar;
  component.place_ = std::move(place);
  component.own_keys_ = std::move(own_keys);
  return component;
}

ComponentWriter::~ComponentWriter() = default;

void ValueTraits<Component>::write(const Component& component, Writer& writer) {
  if (auto* const wanting = dynamic_cast<ComponentWriter*>(&writer))
    wanting->component(component);
  else
    writer.string(component.use());
}

bool ValueTraits<Component>::read(Component& component, Reader& reader) {
  ComponentSlot wanted(slot);
  if (!reader.component(wanted)) return false;
  if (const auto read = std::static_pointer_cast<Component>(wanted.take())) component = *read;
  return true;
}

bool ValueTraits<InlineComponent>::read(InlineComponent& component, Reader& reader) {
  ComponentSlot wanted(slot);
  if (!reader.component(wanted)) return false;
  if (const auto read = std::static_pointer_cast<InlineComponent>(wanted.take())) component = *read;
  return true;
}

}  // namespace tenon
