#pragma once
#include <memory>
#include <string>
#include <vector>

#include "follower.hpp"
#include "tenon/registry.hpp"

namespace tenon::consul {

/// What a document's key says, and who wants to know. One that is not there is an empty text of version 0.
/// Threads: the executor's. Ownership: its Watches, and a run.
class DocumentView final : public Follower {
 public:
  DocumentView(std::shared_ptr<Agent> agent, std::string kind, std::string group);
  ~DocumentView() override;

  struct Subscriber {
    DocumentObserver observer;
    bool ended = false;
    bool told = false;
    bool stale = false;
  };
  std::shared_ptr<Subscriber> subscribe(DocumentObserver observer);
  /// The last one ends the view.
  void end_of(Subscriber& subscriber);

 private:
  struct Kick : Alarm {
    DocumentView* view = nullptr;
  };
  Task<Result<void>> learn(const Answer& answer, bool anew) override;
  void on_stale(const Error& why) override;
  void publish(bool news);
  void on_kick();

  Clock& clock_;
  Document document_;
  bool loaded_ = false;
  Error stale_;
  std::vector<std::shared_ptr<Subscriber>> subscribers_;
  Kick kick_;
};

/// The document of an answer to its key. Fails with: malformed.
Result<Document> read_document(const Answer& answer, const std::string& kind, const std::string& group);

}  // namespace tenon::consul
