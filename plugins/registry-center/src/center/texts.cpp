#include "texts.hpp"

#include <algorithm>

#include "limits.hpp"

namespace tenon::center {

namespace {

std::string name_of(const Document& document) { return "the " + document.kind + " of group " + quoted(document.group); }

Error stale(const Document& document, std::uint64_t stored) {
  return Error(Errc::already_exists,
               "center: " + name_of(document) + " has version " + std::to_string(stored) + ", not " +
                   std::to_string(document.version) + "; read it again before changing it",
               Delivery::not_run, Advice::never);
}

std::shared_ptr<const Document> nothing(const std::string& kind, const std::string& group) {
  return std::make_shared<const Document>(Document{kind, group, {}, 0});
}

}  // namespace

void Texts::load(std::vector<Document> documents, std::uint64_t sequence) {
  for (Document& document : documents) apply(std::move(document));
  sequence_ = std::max(sequence_, sequence);
}

const Document* Texts::find(const std::string& kind, const std::string& group) const {
  const auto found = texts_.find({kind, group});
  return found == texts_.end() ? nullptr : found->second.document.get();
}

Document Texts::read(const std::string& kind, const std::string& group) const {
  const Document* const stored = find(kind, group);
  return stored ? *stored : Document{kind, group, {}, 0};
}

Result<Document> Texts::plan_write(const Document& document) const {
  const Document* const stored = find(document.kind, document.group);
  const std::uint64_t version = stored ? stored->version : 0;
  if (document.version != version) return stale(document, version);
  const auto full = [&](const std::string& what) {
    return Error(Errc::overloaded, "center: " + name_of(document) + ": " + what + "; remove some, or raise the option",
                 Delivery::not_run, Advice::never);
  };
  if (version == 0 && there_ >= max_documents_)
    return full("there are " + std::to_string(there_) + " documents already (max_documents)");
  const std::size_t others = bytes_ - (stored ? stored->text.size() : 0);
  if (document.text.size() > max_bytes_ - std::min(others, max_bytes_))
    return full("with it all documents would have more than " + std::to_string(max_bytes_) +
                " bytes (max_document_bytes)");
  Document planned = document;
  planned.version = sequence_ + 1;
  return planned;
}

Result<Document> Texts::plan_remove(const Document& document) const {
  const Document* const stored = find(document.kind, document.group);
  if (!stored || stored->version == 0)
    return Error(Errc::not_found, "center: there is no " + document.kind + " of group " + quoted(document.group),
                 Delivery::not_run, Advice::never);
  if (document.version != stored->version) return stale(document, stored->version);
  return Document{document.kind, document.group, {}, 0};
}

void Texts::apply(Document planned) {
  const Name name{planned.kind, planned.group};
  Text& text = open(name);
  bytes_ += planned.text.size() - text.document->text.size();
  there_ += (planned.version != 0 ? 1 : 0) - (text.document->version != 0 ? 1 : 0);
  sequence_ = std::max(sequence_, planned.version);
  text.document = std::make_shared<const Document>(std::move(planned));
  for (Watcher* watcher : text.watchers) watcher->changed();
  if (text.document->version == 0 && text.watchers.empty()) texts_.erase(name);
}

void Texts::groups(std::set<std::string>& into) const {
  for (const auto& [name, text] : texts_)
    if (text.document->version != 0) into.insert(name.second);
}

Text& Texts::open(const Name& name) {
  Text& text = texts_[name];
  if (!text.document) text.document = nothing(name.first, name.second);
  return text;
}

void Texts::watch(Watcher& watcher, const std::string& kind, const std::string& group) {
  watcher.text = &open({kind, group});
  watcher.text->watchers.insert(&watcher);
}

void Texts::leave(Watcher& watcher) noexcept {
  Text& text = *std::exchange(watcher.text, nullptr);
  text.watchers.erase(&watcher);
  if (text.document->version != 0 || !text.watchers.empty()) return;
  texts_.erase(Name(text.document->kind, text.document->group));
}

}  // namespace tenon::center
