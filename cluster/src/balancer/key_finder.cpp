#include "balancer/key_finder.hpp"

#include "balancer/hash_key.hpp"

namespace tenon::cluster {

void KeyFinder::string(std::string_view value) {
  if (over_ || aside_ > 0) return;
  if (at_map_key()) {
    wanted_ = level_ <= path_.size() && path_[level_ - 1] == value;
    key_next_ = false;
  } else if (wanted_ && level_ == path_.size()) {
    found(hash_text(value));
  } else {
    ends();
  }
}

void KeyFinder::bytes(std::string_view value) {
  if (over_ || aside_ > 0) return;
  if (wanted_ && !at_map_key() && level_ == path_.size())
    found(hash_text(value));
  else
    ends();
}

void KeyFinder::begin_message(const MessageType& type) {
  // A bare value has no name: its path begins inside.
  if (level_ > 0 || type.form() != Form::bare) enter(Container::message);
}

void KeyFinder::field(const Field& field) {
  if (over_ || aside_ > 0) return;
  wanted_ = level_ == 0 || path_[level_ - 1] == field.name;
}

void KeyFinder::found(std::uint64_t value) {
  if (over_ || aside_ > 0) return;
  if (wanted_ && !at_map_key() && level_ == path_.size()) {
    key_ = value;
    over_ = true;
  } else {
    ends();
  }
}

// A value, or a key that is no text, has passed in the innermost container of the path.
void KeyFinder::ends() {
  if (over_ || aside_ > 0) return;
  if (at_map_key()) {
    wanted_ = false;
    key_next_ = false;
    return;
  }
  if (wanted_) over_ = true;  // it was on the path, and is no key
  wanted_ = false;
  key_next_ = map_;
}

void KeyFinder::enter(Container container) {
  if (over_) return stop();
  if (aside_ > 0 || !wanted_ || at_map_key()) {
    ++aside_;
    return;
  }
  wanted_ = false;
  if (container == Container::list || level_ == path_.size()) return stop();
  ++level_;
  map_ = key_next_ = container == Container::map;
}

void KeyFinder::leave() {
  if (over_) return;
  if (aside_ > 0) {
    if (--aside_ == 0) ends();
  } else {
    over_ = true;
  }
}

// What may be long need not be walked any more. (Simple values are cheaper than the error.)
void KeyFinder::stop() {
  over_ = true;
  if (!failed()) fail(Error(Errc::cancelled, "enough of the message has been seen", Delivery::not_run));
}

std::string KeyFinder::why_never(const MessageType& type, std::span<const std::string> path) {
  Type at;
  at.kind = Kind::message;
  at.message = &type;
  if (type.form() == Form::bare) at = *type.fields()[0].type;
  if (at.kind == Kind::value) return {};
  for (const std::string& name : path) {
    if (at.kind == Kind::message) {
      const Field* field = at.message->find(name);
      if (!field) return std::string(at.message->name()) + " has no field " + name;
      at = *field->type;
    } else if (at.kind == Kind::map && at.key && at.key->kind == Kind::string && at.element) {
      at = *at.element;
    } else {
      return std::string(type.name()) + ": " + name + " would be inside a " + std::string(to_string(at.kind));
    }
    if (at.kind == Kind::value) return {};
  }
  switch (at.kind) {
    case Kind::f32:
    case Kind::f64:
    case Kind::list:
    case Kind::map:
    case Kind::message:
    case Kind::component:
    case Kind::null:
      return std::string(type.name()) + ": it is a " + std::string(to_string(at.kind)) +
             "; a key is a whole number, a text, bytes, a boolean, an enumeration or a duration";
    default: return {};
  }
}

}  // namespace tenon::cluster
