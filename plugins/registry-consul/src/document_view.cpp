#include "document_view.hpp"

#include <algorithm>
#include <utility>

#include "answers.hpp"
#include "names.hpp"

namespace tenon::consul {

Result<Document> read_document(const Answer& answer, const std::string& kind, const std::string& group) {
  Document document{kind, group, "", 0};
  if (answer.status == 404) return document;
  auto entries = read_key_values(answer.body);
  if (!entries.ok()) return std::move(entries).error();
  if (entries->size() != 1 || entries->front().key != document_key(kind, group))
    return Error(Errc::malformed,
                 "the answer is not what a Consul agent says: not one key, " + document_key(kind, group));
  document.text = std::move(entries->front().value);
  document.version = entries->front().version;
  return document;
}

DocumentView::DocumentView(std::shared_ptr<Agent> agent, std::string kind, std::string group)
    : Follower(agent, "/v1/kv/" + escape_key(document_key(kind, group)), {}, "key " + document_key(kind, group)),
      clock_(agent->clock()) {
  document_.kind = std::move(kind);
  document_.group = std::move(group);
  kick_.view = this;
  kick_.fire = [](Alarm* alarm) { static_cast<Kick*>(alarm)->view->on_kick(); };
}

DocumentView::~DocumentView() { clock_.cancel(kick_); }

std::shared_ptr<DocumentView::Subscriber> DocumentView::subscribe(DocumentObserver observer) {
  auto subscriber = std::make_shared<Subscriber>();
  subscriber->observer = std::move(observer);
  subscribers_.push_back(subscriber);
  if (!kick_.armed()) clock_.arm(kick_, clock_.now());
  return subscriber;
}

void DocumentView::end_of(Subscriber& subscriber) {
  subscriber.ended = true;
  std::erase_if(subscribers_, [&](const auto& each) { return each.get() == &subscriber; });
  if (!subscribers_.empty()) return;
  clock_.cancel(kick_);
  end();
}

void DocumentView::on_kick() {
  if (over()) return;
  if (stale_) {
    const Error why = stale_;
    on_stale(why);
  } else if (loaded_) {
    publish(false);
  }
}

void DocumentView::on_stale(const Error& why) {
  const auto self = shared_from_this();
  stale_ = why;
  for (const auto& subscriber : std::vector(subscribers_)) {
    if (subscriber->ended || std::exchange(subscriber->stale, true)) continue;
    subscriber->observer(Result<Document>(why));
  }
}

Task<Result<void>> DocumentView::learn(const Answer& answer, bool) {
  auto document = read_document(answer, document_.kind, document_.group);
  if (!document.ok()) co_return std::move(document).error();
  const bool news = !loaded_ || document->version != document_.version || document->text != document_.text;
  document_ = std::move(*document);
  loaded_ = true;
  stale_ = Error();
  publish(news);
  co_return Result<void>();
}

void DocumentView::publish(bool news) {
  const auto self = shared_from_this();
  const Document now = document_;
  for (const auto& subscriber : std::vector(subscribers_)) {
    if (subscriber->ended || (!news && subscriber->told && !subscriber->stale)) continue;
    subscriber->told = true;
    subscriber->stale = false;
    subscriber->observer(Result<Document>(now));
  }
}

}  // namespace tenon::consul
