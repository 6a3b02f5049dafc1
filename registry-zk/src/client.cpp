#include "client.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace tenon::zk {

bool is_loss(int code) noexcept {
  switch (code) {
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZINVALIDSTATE:
    case ZSESSIONEXPIRED:
    case ZSESSIONMOVED:
    case ZCLOSING:
    case ZTHROTTLEDOP:
    case ZMARSHALLINGERROR: return true;
    default: return false;
  }
}

// An operation that the library has. Its completion runs once, on a thread of the library, or not at all when the
// handle is closed.
struct Client::Ticket final : Mailbox::Lent {
  Ticket(Client* owner, std::uint64_t number) : client(owner), id(number) {}
  Client* const client;
  const std::uint64_t id;
  std::vector<Step> steps;
  std::vector<zoo_op_t> ops;
  std::vector<zoo_op_result_t> results;
};

struct Client::Batch {
  int count;
  const zoo_op_t* ops;
  zoo_op_result_t* results;
};

struct Client::Callbacks {
  static void finish(const void* data, Reply reply) {
    auto* lent = static_cast<Ticket*>(const_cast<void*>(data));
    Mailbox& mailbox = lent->mailbox();
    const std::unique_ptr<Ticket> ticket = mailbox.take_back(lent);
    mailbox.post([client = ticket->client, id = ticket->id, reply = std::move(reply)]() mutable {
      client->complete(id, std::move(reply));
    });
  }
  static Reply coded(int code) {
    Reply reply;
    reply.code = code;
    return reply;
  }
  static void done(int code, const void* data) { finish(data, coded(code)); }
  static void created(int code, const char*, const void* data) { finish(data, coded(code)); }
  static void stat(int code, const Stat* stat, const void* data) {
    Reply reply = coded(code);
    if (code == ZOK && stat) reply.stat = *stat;
    finish(data, std::move(reply));
  }
  static void got(int code, const char* value, int length, const Stat* stat, const void* data) {
    Reply reply = coded(code);
    if (code == ZOK && value && length > 0) reply.data.assign(value, static_cast<std::size_t>(length));
    if (code == ZOK && stat) reply.stat = *stat;
    finish(data, std::move(reply));
  }
  static void listed(int code, const String_vector* names, const void* data) {
    Reply reply = coded(code);
    if (code == ZOK && names) reply.names.assign(names->data, names->data + names->count);
    finish(data, std::move(reply));
  }
  static void stepped(int code, const void* data) {
    Reply reply = coded(code);
    const auto* ticket = static_cast<const Ticket*>(data);
    (void)ticket->mailbox();
    const auto& results = ticket->results;
    while (reply.failed < results.size() && results[reply.failed].err == ZOK) ++reply.failed;
    finish(data, std::move(reply));
  }
  static void forgotten(int, const void*) {}

  static void watch(zhandle_t* handle, int type, int state, const char* path, void* context) {
    auto* mailbox = static_cast<Mailbox*>(context);
    // The client's address is the letter's only to be used while the mailbox is open.
    Client* const client = mailbox->owner();
    if (type != ZOO_SESSION_EVENT) {
      mailbox->post([client, path = std::string(path ? path : "")] { client->listener_.on_event(path); });
      return;
    }
    const bool connected = state == ZOO_CONNECTED_STATE;
    const std::int64_t session = connected ? zoo_client_id(handle)->client_id : 0;
    const int timeout = connected ? zoo_recv_timeout(handle) : 0;
    mailbox->post([=] { client->on_session_event(handle, state, session, timeout); });
  }
};

Client::Client(ClientOptions options, Listener& listener, Executor& executor, std::shared_ptr<ClientLog> log)
    : options_(std::move(options)),
      listener_(listener),
      mailbox_(std::make_shared<Mailbox>(executor, this, std::move(log))) {
  const auto open = [box = mailbox_, client = this, options = options_] {
    zhandle_t* handle =
        zookeeper_init2(options.servers.c_str(), &Callbacks::watch, static_cast<int>(options.session_timeout.count()),
                        nullptr, box.get(), ZOO_NO_LOG_CLIENTENV, box->log_function());
    const int error = errno;
    if (!handle) {
      const std::string text = error == ENOENT || error == EINVAL ? "no server's name can be resolved"
                                                                  : std::generic_category().message(error);
      box->post([client, text] { client->listener_.on_refused(text); });
      return;
    }
    // Names are resolved when a connection is lost; otherwise it would be each time the socket is looked at.
    (void)zoo_set_servers_resolution_delay(handle, -1);
    if (!options.digest.empty())
      (void)zoo_add_auth(handle, "digest", options.digest.data(), static_cast<int>(options.digest.size()),
                         &Callbacks::forgotten, nullptr);
    if (!box->keep(handle)) Mailbox::close_handle(handle);
  };
  if (!run_apart(open)) {
    mailbox_->post([this] { listener_.on_refused("the system has no thread left"); });
  }
}

Client::~Client() {
  mailbox_->close();
  handle_ = nullptr;
  // Resumed ones may ask again, and are told at once.
  while (!pending_.empty()) {
    const auto pending = std::exchange(pending_, {});
    for (const auto& [id, operation] : pending) {
      operation->reply_.code = ZCLOSING;
      operation->caller_.resume();
    }
  }
}

bool Client::server_address(sockaddr_storage& address, socklen_t& length) const noexcept {
  length = sizeof address;
  return handle_ && zookeeper_get_connected_host(handle_, reinterpret_cast<sockaddr*>(&address), &length) != nullptr;
}

void Client::on_session_event(zhandle_t* handle, int state, std::int64_t session, int timeout_ms) {
  handle_ = handle;
  if (state == ZOO_CONNECTED_STATE) {
    listener_.on_connected(session, std::chrono::milliseconds(timeout_ms));
  } else if (state == ZOO_EXPIRED_SESSION_STATE) {
    listener_.on_expired();
  } else if (state == ZOO_AUTH_FAILED_STATE) {
    listener_.on_refused("the server refuses the digest");
  } else {
    listener_.on_disconnected();
  }
}

void Client::complete(std::uint64_t id, Reply reply) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return;
  Operation* operation = found->second;
  pending_.erase(found);
  operation->reply_ = std::move(reply);
  operation->caller_.resume();
}

bool Operation::await_suspend(std::coroutine_handle<> caller) {
  caller_ = caller;
  if (client_) return client_->submit(*this);
  reply_.code = ZCONNECTIONLOSS;
  return false;
}

bool Client::submit(Operation& operation) {
  operation.reply_.code = ZCONNECTIONLOSS;
  if (!handle_) return false;
  const std::uint64_t id = next_++;
  auto ticket = std::make_unique<Ticket>(this, id);
  if (operation.what_ == Operation::What::steps) prepare(operation, *ticket);
  const Batch batch{static_cast<int>(ticket->ops.size()), ticket->ops.data(), ticket->results.data()};
  // Before it starts: its end is on another thread.
  Ticket* const started = ticket.get();
  mailbox_->lend(std::move(ticket));
  const int code = start(operation, started, batch);
  if (code != ZOK) {
    (void)mailbox_->take_back(started);
    operation.reply_.code = code;
    return false;
  }
  pending_.emplace(id, &operation);
  return true;
}

void Client::prepare(Operation& operation, Ticket& ticket) const {
  ticket.steps = std::move(operation.steps_);
  ticket.ops.resize(ticket.steps.size());
  ticket.results.resize(ticket.steps.size());
  for (std::size_t at = 0; at < ticket.steps.size(); ++at) {
    const Step& step = ticket.steps[at];
    if (step.what == Step::What::remove)
      zoo_delete_op_init(&ticket.ops[at], step.path.c_str(), step.version);
    else
      zoo_create_op_init(&ticket.ops[at], step.path.c_str(), step.data.data(), static_cast<int>(step.data.size()),
                         options_.acl, ZOO_EPHEMERAL, nullptr, 0);
  }
}

// The ticket is not to be looked at here: it may be back already.
int Client::start(Operation& operation, Ticket* ticket, const Batch& batch) {
  const char* path = operation.path_.c_str();
  const char* data = operation.data_.data();
  const int length = static_cast<int>(operation.data_.size());
  const int watch = operation.watch_ ? 1 : 0;
  switch (operation.what_) {
    case Operation::What::get: return zoo_aget(handle_, path, watch, &Callbacks::got, ticket);
    case Operation::What::exists: return zoo_aexists(handle_, path, watch, &Callbacks::stat, ticket);
    case Operation::What::children: return zoo_aget_children(handle_, path, watch, &Callbacks::listed, ticket);
    case Operation::What::create:
      return zoo_acreate(handle_, path, data, length, options_.acl, ZOO_PERSISTENT, &Callbacks::created, ticket);
    case Operation::What::create_ephemeral:
      return zoo_acreate(handle_, path, data, length, options_.acl, ZOO_EPHEMERAL, &Callbacks::created, ticket);
    case Operation::What::set:
      return zoo_aset(handle_, path, data, length, operation.version_, &Callbacks::stat, ticket);
    case Operation::What::remove: return zoo_adelete(handle_, path, operation.version_, &Callbacks::done, ticket);
    case Operation::What::steps: break;
  }
  return zoo_amulti(handle_, batch.count, batch.ops, batch.results, &Callbacks::stepped, ticket);
}

// Both kinds that may stand at one path. zoo_aremove_watches() would only ask the server whether they exist; all of
// them are ours. The library wants the address of a function where its header asks for one of a pointer to a function.
void Client::forget(const std::string& path) {
  if (!handle_) return;
  auto* done = reinterpret_cast<void_completion_t*>(&Callbacks::forgotten);
  for (const ZooWatcherType type : {ZWATCHTYPE_CHILD, ZWATCHTYPE_DATA})
    (void)zoo_aremove_all_watches(handle_, path.c_str(), type, 0, done, nullptr);
}

}  // namespace tenon::zk
