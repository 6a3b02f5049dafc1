#include "tenon/attachment.hpp"

#include <cassert>

namespace tenon {

Attachment::Attachment(OutBuffer bytes) {
  if (bytes.empty()) return;
  shared_ = new Shared;
  shared_->buffer = std::move(bytes);
  shared_->bytes = shared_->buffer.view();
}

Attachment::Attachment(std::string bytes) {
  if (bytes.empty()) return;
  shared_ = new Shared;
  shared_->text = std::move(bytes);
  shared_->bytes = shared_->text;
}

Attachment::Attachment(std::shared_ptr<const void> owner, std::string_view bytes) {
  if (bytes.empty()) return;
  shared_ = new Shared;
  shared_->owner = std::move(owner);
  shared_->bytes = bytes;
}

Attachment Attachment::part(std::size_t offset, std::size_t size) const {
  assert(offset <= this->size() && size <= this->size() - offset);
  if (size == this->size()) return *this;
  auto whole = std::make_shared<const Attachment>(*this);
  const std::string_view bytes = whole->bytes().substr(offset, size);
  return Attachment(std::move(whole), bytes);
}

void Attachment::release() noexcept {
  if (shared_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete shared_;
}

}  // namespace tenon
