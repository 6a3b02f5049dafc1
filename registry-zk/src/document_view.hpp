#pragma once
#include <memory>
#include <string>
#include <vector>

#include "reconciler.hpp"
#include "tenon/registry.hpp"

namespace tenon::zk {

/// What a document's node says, and who wants to know. A node that is not there is an empty text of version 0.
/// Threads: the executor's. Ownership: its Watches, and a run.
class DocumentView final : public Reconciler {
 public:
  DocumentView(Session& session, std::string path, std::string kind, std::string group);
  ~DocumentView() override;

  struct Subscriber {
    DocumentObserver observer;
    bool ended = false;
    bool told = false;
    bool stale = false;
  };
  std::shared_ptr<Subscriber> subscribe(DocumentObserver observer);
  void end(Subscriber& subscriber);

  void on_stale(const Error& error) override;

 private:
  struct Kick : Alarm {
    DocumentView* view = nullptr;
  };
  Task<bool> reconcile() override;
  void publish(bool news);
  void on_kick();

  Clock& clock_;
  const std::string path_;
  Document document_;
  bool loaded_ = false;
  std::vector<std::shared_ptr<Subscriber>> subscribers_;
  Kick kick_;
};

}  // namespace tenon::zk
