#include "group_words.hpp"

#include <utility>

#include "names.hpp"

namespace tenon::consul {

Result<std::map<std::string, Word>> read_words(const Answer& answer, std::string_view folder, Log& log) {
  std::map<std::string, Word> words;
  if (answer.status == 404) return words;
  auto entries = read_key_values(answer.body);
  if (!entries.ok()) return std::move(entries).error();
  for (const KeyValue& entry : *entries) {
    if (!entry.key.starts_with(folder)) continue;
    auto word = read_word(entry.value);
    if (word.ok())
      words.emplace(entry.key.substr(folder.size()), std::move(*word));
    else
      log.warn("consul-key", "key " + entry.key + " is left out: " + word.error().text());
  }
  return words;
}

GroupWords::GroupWords(std::shared_ptr<Agent> agent, const std::string& group)
    : Follower(std::move(agent), "/v1/kv/" + escape_key(word_key(group)), "recurse",
               "what operators said about group " + group),
      folder_(word_key(group)) {}

GroupWords::Listener::Listener(std::shared_ptr<GroupWords> words, std::function<void()> heard)
    : words_(std::move(words)), heard_(std::move(heard)) {
  words_->listeners_.insert(this);
}

GroupWords::Listener::~Listener() {
  words_->listeners_.erase(this);
  if (words_->listeners_.empty()) words_->end();
}

const Word* GroupWords::find(const std::string& registration) const noexcept {
  const auto found = words_.find(escape(registration));
  return found == words_.end() ? nullptr : &found->second;
}

void GroupWords::apply_to(Provider& provider) const {
  if (const Word* word = find(provider.registration)) (void)apply(*word, provider);
}

Task<Result<void>> GroupWords::learn(const Answer& answer, bool) {
  auto words = read_words(answer, folder_, agent()->log());
  if (!words.ok()) co_return std::move(words).error();
  const bool news = !settled_ || *words != words_;
  words_ = std::move(*words);
  settled_ = true;
  if (news) tell();
  co_return Result<void>();
}

// Without them, what providers say holds.
void GroupWords::on_stale(const Error&) {
  if (!std::exchange(settled_, true)) tell();
}

void GroupWords::tell() {
  const auto self = shared_from_this();
  for (Listener* each : std::set(listeners_))
    if (listeners_.contains(each)) each->heard_();
}

}  // namespace tenon::consul
