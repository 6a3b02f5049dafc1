#include "consumer_node.hpp"

#include <cstdio>
#include <utility>

#include "provider_node.hpp"

namespace tenon::zk {

ConsumerNode::ConsumerNode(Session& session, const Layout& layout, Subscription subscription)
    : Reconciler(session, {}),
      subscription_(std::move(subscription)),
      folder_(layout.service(subscription_.service) + "/" + std::string(client_folder)),
      serial_(session.next_revision()) {}

void ConsumerNode::begin() {
  self_ = shared_from_this();
  wanted_ = true;
  wake();
}

void ConsumerNode::end() {
  wanted_ = false;
  wake();
  if (!running()) on_rest();
}

void ConsumerNode::on_rest() {
  // Without a connection there is nothing to take down: the session that wrote it ends by itself.
  if (!session() || (!wanted_ && (stands_at_.empty() || !session()->ready()))) self_.reset();
}

Task<bool> ConsumerNode::reconcile() {
  if (!wanted_) {
    if (!stands_at_.empty()) (void)co_await session()->remove(stands_at_);
    stands_at_.clear();
    co_return true;
  }
  char session_text[17];
  std::snprintf(session_text, sizeof session_text, "%llx", static_cast<unsigned long long>(session()->id()));
  const std::string path = folder_ + "/" + session()->host() + ":0-" + session_text + "-" + std::to_string(serial_);
  const std::string text = write_consumer(subscription_, session()->host());
  for (int round = 0; round < 3; ++round) {
    const Reply reply = co_await session()->create_ephemeral(path, text);
    if (reply.ok() || reply.code == ZNODEEXISTS) {
      stands_at_ = path;
      co_return true;
    }
    int code = reply.code;
    if (code == ZNONODE) code = co_await make_path(*session(), folder_);
    if (code == ZOK) continue;
    if (is_loss(code)) co_return false;
    warn(failure("cannot show this consumer in " + folder_, code).text() + "; nothing depends on it");
    co_return true;
  }
  co_return false;
}

}  // namespace tenon::zk
