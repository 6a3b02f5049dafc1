// Calls that take time: streams, and changes that must be durable.
#include "board.hpp"
#include "limits.hpp"

namespace tenon::center {

/// A subscription, from its handler's side: leaves at the end.
class Board::Subscribed {
 public:
  Subscribed(std::shared_ptr<Board> board, std::string name, const CallInfo& call)
      : board_(std::move(board)), mailbox_(board_->door_, std::move(name), call) {}
  Subscribed(const Subscribed&) = delete;
  Subscribed& operator=(const Subscribed&) = delete;
  ~Subscribed() {
    board_->with([this] { board_->table_.leave(mailbox_); });
  }

  Mailbox& mailbox() noexcept { return mailbox_; }
  /// What there is to send now; null: nothing more, ever.
  template <class T>
  Result<std::shared_ptr<const T>> take(std::shared_ptr<const T> (*latest)(Board&, Mailbox&)) {
    return board_->with([&]() -> Result<std::shared_ptr<const T>> {
      Result<bool> read = mailbox_.read();
      if (!read.ok()) return std::move(read).error();
      if (!*read) return std::shared_ptr<const T>();
      return latest(*board_, mailbox_);
    });
  }
  /// Sends the latest, then waits for news, until somebody has had enough.
  template <class T>
  Task<Result<void>> follow(StreamWriter<T>& out, std::shared_ptr<const T> (*latest)(Board&, Mailbox&)) {
    std::shared_ptr<const T> sent;
    while (true) {
      auto news = mailbox_.news();
      co_await news;
      Result<std::shared_ptr<const T>> now = take<T>(latest);
      if (!now.ok()) co_return std::move(now).error();
      if (!*now) co_return Result<void>();
      if (*now == sent) continue;
      sent = std::move(*now);
      Result<void> done = co_await out.send(*sent);
      if (!done.ok()) co_return done;
    }
  }

 private:
  const std::shared_ptr<Board> board_;
  Mailbox mailbox_;
};

Task<Result<void>> Board::watch(std::shared_ptr<Board> board, ClientKey key, ServiceName service,
                                std::string subscriber, StreamWriter<List>& out) {
  Subscribed subscribed(board, std::move(subscriber), out.call());
  Result<void> begun =
      board->serve([&] { return board->table_.watch(key, service, subscribed.mailbox(), board->time_.now()); });
  if (!begun.ok()) co_return begun;
  Task<Result<void>> followed =
      subscribed.follow<List>(out, [](Board& board, Mailbox& mailbox) { return board.table_.list(*mailbox.service); });
  co_return co_await followed;
}

Task<Result<void>> Board::watch_document(std::shared_ptr<Board> board, ClientKey key, std::string kind,
                                         std::string group, StreamWriter<Document>& out) {
  Subscribed subscribed(board, {}, out.call());
  Result<void> begun = board->serve(
      [&] { return board->table_.watch_document(key, kind, group, subscribed.mailbox(), board->time_.now()); });
  if (!begun.ok()) co_return begun;
  Task<Result<void>> followed =
      subscribed.follow<Document>(out, [](Board&, Mailbox& mailbox) { return mailbox.text->document; });
  co_return co_await followed;
}

// On the journal's thread, where there is one, so that changes come one after the other.
Result<void> Board::change_document(Store* store, const Document& document, bool remove) {
  Result<Document> planned =
      serve([&] { return remove ? table_.texts().plan_remove(document) : table_.texts().plan_write(document); });
  if (!planned.ok()) return std::move(planned).error();
  if (store)
    if (auto done = store->put(*planned); !done.ok()) return done;
  with([&] { table_.texts().apply(std::move(*planned)); });
  return {};
}

Result<void> Board::change_instance(Store* store, const InstanceName& of, std::optional<std::uint32_t> weight,
                                    std::optional<bool> serving) {
  Result<Planned> planned = serve([&] { return table_.plan(of.service, of.id, weight, serving); });
  if (!planned.ok()) return std::move(planned).error();
  if (store)
    if (auto done = store->put(planned->value); !done.ok()) return done;
  const bool applied = with([&] { return table_.apply(*planned); });
  if (applied || !store) return {};
  return store->forget(of);  // its provider had the last word meanwhile
}

Task<Result<void>> Board::write(std::shared_ptr<Board> board, Document document) {
  if (auto checked = check_document(document); !checked.ok()) co_return std::move(checked).error().prefix("center");
  if (!board->journal_) co_return board->change_document(nullptr, document, false);
  Executor* const here = Executor::current();
  auto job = [&](Store& store) { return board->change_document(&store, document, false); };
  Journal::Write written(*board->journal_, here ? *here : board->environment_.executor, job);
  co_return co_await written;
}

Task<Result<void>> Board::remove(std::shared_ptr<Board> board, Document document) {
  if (auto checked = check_document_name(document.kind, document.group); !checked.ok())
    co_return std::move(checked).error().prefix("center");
  if (!board->journal_) co_return board->change_document(nullptr, document, true);
  Executor* const here = Executor::current();
  auto job = [&](Store& store) { return board->change_document(&store, document, true); };
  Journal::Write written(*board->journal_, here ? *here : board->environment_.executor, job);
  co_return co_await written;
}

Task<Result<void>> Board::update(std::shared_ptr<Board> board, ClientKey key, ServiceName service, Instance instance) {
  Result<void> done = board->announce(key, service, instance, true);
  if (!done.ok() || !board->journal_) co_return std::move(done);
  // What is to be forgotten has been handed to the journal, which does one job after the other. A failure is in its
  // log: the instance is announced all the same.
  Executor* const here = Executor::current();
  const Journal::Job nothing = [](Store&) { return Result<void>(); };
  Journal::Write behind(*board->journal_, here ? *here : board->environment_.executor, nothing);
  (void)co_await behind;
  co_return Result<void>();
}

Task<Result<void>> Board::set(std::shared_ptr<Board> board, InstanceName of, std::optional<std::uint32_t> weight,
                              std::optional<bool> serving) {
  if (!board->journal_) co_return board->change_instance(nullptr, of, weight, serving);
  Executor* const here = Executor::current();
  auto job = [&](Store& store) { return board->change_instance(&store, of, weight, serving); };
  Journal::Write written(*board->journal_, here ? *here : board->environment_.executor, job);
  co_return co_await written;
}

}  // namespace tenon::center
