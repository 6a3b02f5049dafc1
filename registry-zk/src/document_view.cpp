#include "document_view.hpp"

#include <algorithm>
#include <utility>

#include "node_text.hpp"

namespace tenon::zk {

DocumentView::DocumentView(Session& session, std::string path, std::string kind, std::string group)
    : Reconciler(session, {path}), clock_(session.clock()), path_(std::move(path)) {
  document_.kind = std::move(kind);
  document_.group = std::move(group);
  kick_.view = this;
  kick_.fire = [](Alarm* alarm) { static_cast<Kick*>(alarm)->view->on_kick(); };
}

DocumentView::~DocumentView() {
  clock_.cancel(kick_);
  if (!session()) return;
  // This one no longer counts as somebody who wants it.
  Session& last = *session();
  last.detach(*this, {path_});
  last.forget(path_);
}

std::shared_ptr<DocumentView::Subscriber> DocumentView::subscribe(DocumentObserver observer) {
  auto subscriber = std::make_shared<Subscriber>();
  subscriber->observer = std::move(observer);
  subscribers_.push_back(subscriber);
  if (!kick_.armed()) clock_.arm(kick_, clock_.now());
  return subscriber;
}

void DocumentView::end(Subscriber& subscriber) {
  subscriber.ended = true;
  std::erase_if(subscribers_, [&](const auto& each) { return each.get() == &subscriber; });
}

void DocumentView::on_kick() {
  const auto self = shared_from_this();
  if (!session()) return;
  if (loaded_)
    publish(false);
  else if (session()->ready())
    wake();
  else if (clock_.now() >= session()->hopeless_at())
    on_stale(session()->unavailable());
}

void DocumentView::on_stale(const Error& error) {
  const auto self = shared_from_this();
  for (const auto& subscriber : std::vector(subscribers_)) {
    if (subscriber->ended || std::exchange(subscriber->stale, true)) continue;
    subscriber->observer(Result<Document>(error));
  }
}

Task<bool> DocumentView::reconcile() {
  const Reply reply = co_await session()->get(path_, true);
  if (reply.code == ZNONODE) {
    const Reply seen = co_await session()->exists(path_, true);
    if (seen.ok()) {
      wake();  // it has come
      co_return true;
    }
    if (seen.code != ZNONODE) co_return false;
  } else if (!reply.ok()) {
    if (!is_loss(reply.code)) {
      const Error error = failure("cannot read " + path_, reply.code);
      warn(error.text() + "; trying again");
      on_stale(error);
    }
    co_return false;
  }
  const auto text = read_node_text(reply.data);
  if (!text.ok()) {
    const Error error = Error(text.error()).prefix(path_);
    warn(error.text());
    on_stale(error);
    co_return true;
  }
  const std::uint64_t version = reply.ok() ? static_cast<std::uint64_t>(reply.stat.mzxid) : 0;
  const bool news = !loaded_ || version != document_.version || text->text != document_.text;
  document_.text = text->text;
  document_.version = version;
  loaded_ = true;
  publish(news);
  co_return true;
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

}  // namespace tenon::zk
