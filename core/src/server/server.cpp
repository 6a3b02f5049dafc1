#include "server/server.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "loop/run_on.hpp"

namespace tenon {

namespace {
constexpr Duration sniff_limit = std::chrono::seconds(5);
}

/// Reads the first bytes of a connection to find its protocol. Owns itself.
class Server::Sniffer {
 public:
  static void run(Server& server, Home& home, const Listening& listening, std::unique_ptr<ByteStream> stream) {
    auto* sniffer = new Sniffer(server, home, listening, std::move(stream));
    home.sniffers.push_back(sniffer);
    sniffer->wait();
  }
  ~Sniffer() {
    home_.loop->clock().cancel(alarm_);
    std::erase(home_.sniffers, this);
    server_.sniffing_.fetch_sub(1);
  }

 private:
  struct Limit : Alarm {
    Sniffer* sniffer = nullptr;
  };
  Sniffer(Server& server, Home& home, const Listening& listening, std::unique_ptr<ByteStream> stream)
      : server_(server), home_(home), listening_(listening), stream_(std::move(stream)) {
    server_.sniffing_.fetch_add(1);
    alarm_.sniffer = this;
    alarm_.fire = [](Alarm* alarm) { delete static_cast<Limit*>(alarm)->sniffer; };
    home_.loop->clock().arm(alarm_, home_.loop->clock().now() + sniff_limit);
  }
  void wait() {
    stream_->wait_readable({[](void* self) noexcept { static_cast<Sniffer*>(self)->read(); }, this});
  }
  void read() {
    home_.loop->refresh();
    const IoResult got = stream_->try_read(first_ + size_, sizeof first_ - size_);
    if (got.status == IoResult::Status::would_block) return wait();
    if (got.status != IoResult::Status::done) return delete this;
    size_ += got.bytes;
    bool undecided = false;
    for (const auto& protocol : listening_.protocols) {
      const Protocol::Match match = protocol->sniff({first_, size_});
      if (match == Protocol::Match::yes) {
        server_.serve(home_, std::move(stream_), *protocol, {first_, size_});
        return delete this;
      }
      undecided = undecided || match == Protocol::Match::more;
    }
    if (undecided && size_ < sizeof first_) return wait();
    server_.settings_->log->warn("unknown-protocol",
                                 stream_->info().peer + " speaks none of the protocols of " +
                                     listening_.listener->address() + "; first bytes: " +
                                     std::string(first_, std::min<std::size_t>(size_, 16)) + "; closed");
    delete this;
  }

  Server& server_;
  Home& home_;
  const Listening& listening_;
  std::unique_ptr<ByteStream> stream_;
  Limit alarm_;
  char first_[64];
  std::size_t size_ = 0;
};

/// Carries an accepted stream to the loop it will live on.
class Server::Admission final : public Work {
 public:
  static void post(Server& server, Home& home, const Listening& listening, std::unique_ptr<ByteStream> stream) {
    auto* admission = new Admission(server, home, listening, std::move(stream));
    admission->run = [](Work* work) noexcept {
      std::unique_ptr<Admission> self(static_cast<Admission*>(work));
      self->server_.admit(self->home_, self->listening_, std::move(self->stream_));
      self->server_.sniffing_.fetch_sub(1);
    };
    server.sniffing_.fetch_add(1);
    home.loop->post(*admission);
  }

 private:
  Admission(Server& server, Home& home, const Listening& listening, std::unique_ptr<ByteStream> stream)
      : server_(server), home_(home), listening_(listening), stream_(std::move(stream)) {}
  Server& server_;
  Home& home_;
  const Listening& listening_;
  std::unique_ptr<ByteStream> stream_;
};

Server::Server(std::unique_ptr<ServerSettings> settings, std::vector<Loop*> loops) : settings_(std::move(settings)) {
  for (Loop* loop : loops) {
    homes_.push_back(std::make_unique<Home>());
    homes_.back()->loop = loop;
  }
}

Server::~Server() = default;

Result<void> Server::listen(const std::string& address, std::shared_ptr<const Transport> transport,
                            std::vector<std::shared_ptr<const Protocol>> protocols) {
  Loop& loop = *homes_.front()->loop;
  auto listener = run_on(loop, [&] { return transport->listen(address, loop); });
  if (!listener.ok()) return std::move(listener).error();
  auto listening = std::make_unique<Listening>();
  listening->transport = std::move(transport);
  listening->protocols = std::move(protocols);
  listening->listener = std::move(*listener);
  listening_.push_back(std::move(listening));
  return {};
}

void Server::start() {
  Loop& loop = *homes_.front()->loop;
  run_on(loop, [&] {
    ++loop.kept_awake;
    started_ = true;
    for (const auto& listening : listening_) {
      listening->done = false;
      listening->accepting = accept(*listening);
      auto ended = [](void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); };
      if (listening->accepting.start(ended, &listening->done)) listening->done = true;
    }
  });
}

std::vector<std::string> Server::addresses() const {
  std::vector<std::string> all;
  for (const auto& listening : listening_) all.push_back(listening->listener->address());
  return all;
}

Task<void> Server::accept(Listening& listening) {
  while (true) {
    Home& home = *homes_[next_home_++ % homes_.size()];
    Result<std::unique_ptr<ByteStream>> stream = co_await listening.listener->accept(*home.loop);
    if (!stream.ok()) co_return;
    if (home.loop->here())
      admit(home, listening, std::move(*stream));
    else
      Admission::post(*this, home, listening, std::move(*stream));
  }
}

void Server::admit(Home& home, const Listening& listening, std::unique_ptr<ByteStream> stream) {
  if (home.draining) return;  // destruction closes
  if (settings_->connections.load(std::memory_order_relaxed) >= settings_->max_connections) {
    settings_->log->warn("max-connections", "connection of " + stream->info().peer + " closed: " +
                                                std::to_string(settings_->max_connections) + " are open already");
    return;
  }
  if (listening.protocols.size() == 1)
    serve(home, std::move(stream), *listening.protocols.front(), {});
  else
    Sniffer::run(*this, home, listening, std::move(stream));
}

void Server::serve(Home& home, std::unique_ptr<ByteStream> stream, const Protocol& protocol, std::string_view first) {
  home.loop->refresh();
  auto connection = std::make_shared<ServerConnection>(*settings_, *home.loop, std::move(stream), protocol);
  if (home.connections.size() >= 64 && home.connections.size() > 2 * settings_->connections.load())
    std::erase_if(home.connections, [](const auto& weak) { return weak.expired(); });
  home.connections.push_back(connection);
  ServerConnection& started = *connection;
  started.start(first, std::move(connection));
}

void Server::drain(const Error& reason) {
  Loop& control = *homes_.front()->loop;
  run_on(control, [&] {
    for (const auto& listening : listening_) listening->listener->close();
    if (std::exchange(started_, false)) --control.kept_awake;
  });
  for (const auto& listening : listening_)
    while (!listening->done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (const auto& home : homes_)
    run_on(*home->loop, [&] {
      home->draining = true;
      while (!home->sniffers.empty()) delete home->sniffers.back();
      for (const auto& weak : home->connections)
        if (const auto connection = weak.lock()) connection->drain(reason);
    });
}

void Server::force(const Error& reason) {
  for (const auto& home : homes_)
    run_on(*home->loop, [&] {
      for (const auto& weak : home->connections)
        if (const auto connection = weak.lock()) connection->close(reason);
    });
}

void Server::stop_pools() {
  for (const auto& [name, pool] : settings_->pools) pool->stop();
}

}  // namespace tenon
