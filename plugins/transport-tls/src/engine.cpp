#include "engine.hpp"

#include <openssl/err.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "failure.hpp"

namespace tenon::tls {

namespace {

constexpr std::size_t record = SSL3_RT_MAX_PLAIN_LENGTH;
constexpr std::size_t write_budget = 1u << 20;  // bytes per write(), for fairness
constexpr std::size_t first_bytes_kept = 16;
/// A peer that makes us answer (key updates) without ever reading is cut off here.
constexpr std::size_t most_unsent = 256u << 10;

/// Joins small parts into one record's worth. One for each thread: nothing of it outlives a write().
thread_local char gathered[record];

IoResult failed(int error) noexcept { return {IoResult::Status::failed, 0, error}; }

/// Walks over parts in pieces of at most one record.
class Pieces {
 public:
  explicit Pieces(std::span<const std::string_view> parts) noexcept : parts_(parts) { skip(0); }
  bool empty() const noexcept { return parts_.empty(); }
  /// The next piece: a stretch of a long part as it lies, or short ones copied together.
  std::string_view next() noexcept {
    const std::string_view front = parts_.front().substr(taken_);
    if (front.size() >= record || parts_.size() == 1) {
      const std::string_view piece = front.substr(0, record);
      skip(piece.size());
      return piece;
    }
    std::size_t size = 0;
    while (!parts_.empty() && size < record) {
      const std::string_view some = parts_.front().substr(taken_, record - size);
      std::memcpy(gathered + size, some.data(), some.size());
      size += some.size();
      skip(some.size());
    }
    return {gathered, size};
  }

 private:
  void skip(std::size_t bytes) noexcept {
    taken_ += bytes;
    while (!parts_.empty() && taken_ == parts_.front().size()) {
      parts_ = parts_.subspan(1);
      taken_ = 0;
    }
  }
  std::span<const std::string_view> parts_;
  std::size_t taken_ = 0;
};

}  // namespace

Engine::Engine(std::unique_ptr<tcp::TcpStream> socket, bool listening, Log& log)
    : socket_(std::move(socket)), listening_(listening), log_(log), info_(socket_->info()), owner_(info_.peer) {
  info_.secure = true;
}

Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::make(std::shared_ptr<SSL_CTX> context, std::unique_ptr<tcp::TcpStream> socket,
                                             bool listening, Log& log) {
  ERR_clear_error();
  std::unique_ptr<Engine> made(new Engine(std::move(socket), listening, log));
  made->context_ = std::move(context);
  made->ssl_.reset(SSL_new(made->context_.get()));
  BIO* bio = made->ssl_ ? BIO_new(bio_method()) : nullptr;
  if (!bio) return Error(Errc::internal, made->owner_ + ": no TLS state: " + take_error_text(), Delivery::not_run);
  BIO_set_data(bio, made.get());
  BIO_set_init(bio, 1);
  SSL* ssl = made->ssl_.get();
  SSL_set_bio(ssl, bio, bio);
  SSL_set_app_data(ssl, reinterpret_cast<char*>(made.get()));
  SSL_set_verify(ssl, SSL_get_verify_mode(ssl), &on_verify);
  if (listening)
    SSL_set_accept_state(ssl);
  else
    SSL_set_connect_state(ssl);
  return made;
}

Result<void> Engine::expect(const std::string& host, const std::string& address) {
  expected_ = host;
  owner_ = address;
  SSL* ssl = ssl_.get();
  // A literal address cannot be asked for (SNI), but certificates may name it.
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1) return {};
  ERR_clear_error();
  if (SSL_set1_host(ssl, host.c_str()) == 1 && SSL_set_tlsext_host_name(ssl, host.c_str()) == 1) return {};
  return Error(Errc::unavailable,
               address + ": '" + host + "' cannot be the name in a certificate: " + take_error_text(),
               Delivery::not_run, Advice::never);
}

int Engine::on_verify(int ok, X509_STORE_CTX* store) {
  if (ok == 1) return 1;
  auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* self = reinterpret_cast<Engine*>(SSL_get_app_data(ssl));
  self->refused_ = verify_text(X509_STORE_CTX_get_error(store), X509_STORE_CTX_get_current_cert(store), self->owner_,
                               self->expected_);
  return 0;
}

BIO_METHOD* Engine::bio_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "tenon socket");
    if (!made) throw std::bad_alloc();
    BIO_meth_set_read_ex(made, &bio_read);
    BIO_meth_set_write_ex(made, &bio_write);
    BIO_meth_set_ctrl(made, &bio_control);
    return made;
  }();
  return method;
}

int Engine::bio_read(BIO* bio, char* into, std::size_t size, std::size_t* got) {
  auto* self = static_cast<Engine*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const IoResult read = self->socket_->try_read(into, size);
  switch (read.status) {
    case IoResult::Status::done:
      if (!self->shaken_ && self->first_bytes_.size() < first_bytes_kept)
        self->first_bytes_.append(into, std::min(read.bytes, first_bytes_kept - self->first_bytes_.size()));
      *got = read.bytes;
      return 1;
    case IoResult::Status::would_block: BIO_set_retry_read(bio); return 0;
    case IoResult::Status::end: self->ended_ = true; return 0;
    case IoResult::Status::failed: self->socket_error_ = read.error; return 0;
  }
  return 0;
}

// Takes everything: a record begun cannot be taken back. What the socket refuses waits in unsent_.
int Engine::bio_write(BIO* bio, const char* from, std::size_t size, std::size_t* put) {
  auto* self = static_cast<Engine*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  std::string_view rest(from, size);
  while (!rest.empty() && self->unsent_.empty()) {
    const IoResult wrote = self->socket_->try_write({&rest, 1});
    if (wrote.status == IoResult::Status::failed) {
      self->socket_error_ = wrote.error;
      return 0;
    }
    if (wrote.status != IoResult::Status::done) break;
    rest.remove_prefix(wrote.bytes);
  }
  if (self->unsent_.size() + rest.size() > most_unsent) {
    self->socket_error_ = ENOBUFS;
    return 0;
  }
  self->unsent_.append(rest);
  *put = size;
  return 1;
}

long Engine::bio_control(BIO* bio, int command, long, void*) {
  auto* self = static_cast<Engine*>(BIO_get_data(bio));
  if (command == BIO_CTRL_FLUSH) return 1;
  return command == BIO_CTRL_EOF && self->ended_ ? 1 : 0;
}

Engine::Step Engine::handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result == 1) {
    note_peer();
    return Step::done;
  }
  if (SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_READ) return Step::reading;
  why_ = explain();
  broken_ = EPROTO;
  return Step::failed;
}

std::string Engine::explain() {
  const unsigned long code = ERR_peek_error();
  const bool verifying = ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED;
  std::string text;
  if (verifying && !refused_.empty())
    text = refused_;
  else if (const std::string seen = plain_text_seen(first_bytes_); !seen.empty() && !shaken_)
    text = std::string("plain-text peer? it ") + (listening_ ? "sent " : "answered ") + seen;
  else if (socket_error_ != 0)
    text = tcp::system_text(socket_error_);
  else if (code != 0 && !(ended_ && ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING))
    text = ssl_text(code);
  else if (ended_)
    text = listening_ ? "the peer closed the connection; it may not trust our certificate"
                      : "the server closed the connection; does it speak TLS?";
  else
    text = "the peer closed the connection";
  ERR_clear_error();
  return text;
}

void Engine::note_peer() {
  shaken_ = true;
  std::string().swap(first_bytes_);
  SSL* ssl = ssl_.get();
  X509* certificate = SSL_get0_peer_certificate(ssl);
  if (certificate && SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE && SSL_get_verify_result(ssl) == X509_V_OK)
    info_.identity = name_of(certificate);
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl, &protocol, &size);
  if (size > 0) negotiated_.assign(reinterpret_cast<const char*>(protocol), size);
  ERR_clear_error();
}

/// After an SSL call that did not succeed: what that means for the caller.
IoResult::Status Engine::settle(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ: drained_ = true; return IoResult::Status::would_block;
    case SSL_ERROR_WANT_WRITE: return IoResult::Status::would_block;
    case SSL_ERROR_ZERO_RETURN: return IoResult::Status::end;
    case SSL_ERROR_SSL: {
      const unsigned long code = ERR_peek_error();
      log_.warn("tls", owner_ + ": " + explain());
      lose(is_refusal(code) ? EACCES : EPROTO);
      return IoResult::Status::failed;
    }
    default:
      ERR_clear_error();
      lose(socket_error_ != 0 ? socket_error_ : ECONNRESET);
      return IoResult::Status::failed;
  }
}

void Engine::lose(int error) noexcept {
  if (broken_ == 0) broken_ = error;
}

IoResult Engine::read(char* into, std::size_t size) noexcept {
  if (broken_ != 0) return failed(broken_);
  if (size == 0) return {IoResult::Status::would_block, 0, 0};
  std::size_t total = 0;
  while (total < size) {
    ERR_clear_error();
    std::size_t got = 0;
    const int result = SSL_read_ex(ssl_.get(), into + total, size - total, &got);
    if (result != 1) {
      const IoResult::Status status = settle(result);
      if (total > 0) break;  // said again by the next read
      return {status, 0, status == IoResult::Status::failed ? broken_ : 0};
    }
    drained_ = false;
    total += got;
    // A full record is one of many; else only what has arrived already is worth another round.
    if (got < record && !SSL_has_pending(ssl_.get())) break;
  }
  return {IoResult::Status::done, total, 0};
}

IoResult Engine::write(std::span<const std::string_view> parts) noexcept {
  if (broken_ == 0 && !flush()) return {IoResult::Status::would_block, 0, 0};
  if (broken_ != 0) return failed(broken_);
  if (closed_) return failed(EPIPE);
  Pieces pieces(parts);
  std::size_t total = 0;
  while (!pieces.empty() && total < write_budget && unsent_.empty()) {
    ERR_clear_error();
    const std::string_view piece = pieces.next();
    std::size_t put = 0;
    const int result = SSL_write_ex(ssl_.get(), piece.data(), piece.size(), &put);
    if (result == 1) {
      total += put;
      continue;
    }
    if (SSL_get_error(ssl_.get(), result) == SSL_ERROR_SYSCALL) {
      const int error = socket_error_;
      (void)readable();  // the peer may have said why before it closed
      lose(error != 0 ? error : ECONNRESET);
    } else {
      (void)settle(result);
    }
    if (total > 0) break;
    return failed(broken_ != 0 ? broken_ : EPROTO);
  }
  return {IoResult::Status::done, total, 0};
}

bool Engine::pending() const noexcept {
  const bool ended = (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  return ended || broken_ != 0 || (!drained_ && SSL_has_pending(ssl_.get()) == 1);
}

bool Engine::readable() noexcept {
  if (broken_ != 0) return true;
  ERR_clear_error();
  char byte = 0;
  std::size_t got = 0;
  const int result = SSL_peek_ex(ssl_.get(), &byte, 1, &got);
  drained_ = false;
  return result == 1 || settle(result) != IoResult::Status::would_block;
}

bool Engine::flush() noexcept {
  while (sent_ < unsent_.size()) {
    const std::string_view rest = std::string_view(unsent_).substr(sent_);
    const IoResult wrote = socket_->try_write({&rest, 1});
    if (wrote.status == IoResult::Status::would_block) return false;
    if (wrote.status == IoResult::Status::failed) {
      lose(wrote.error);
      break;
    }
    sent_ += wrote.bytes;
  }
  unsent_.clear();
  sent_ = 0;
  return true;
}

void Engine::close_notify() noexcept {
  if (closed_ || broken_ != 0 || !shaken_) return;
  closed_ = true;
  ERR_clear_error();
  (void)SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

void Engine::release_buffers() noexcept {
  (void)SSL_free_buffers(ssl_.get());
  ERR_clear_error();
  if (unsent_.empty()) std::string().swap(unsent_);
}

bool Engine::move_to(Executor& home, int& error) {
  tcp::Watched here = socket_->release();
  PeerInfo info = socket_->info();
  auto there = tcp::watch(tcp::Fd(here.release()), home.context(), error);
  if (!there) return false;
  socket_ = std::make_unique<tcp::TcpStream>(std::move(*there), std::move(info));
  return true;
}

std::unique_ptr<tcp::TcpStream> Engine::release(std::string& unsent) noexcept {
  if (broken_ == 0) unsent = unsent_.substr(sent_);
  return std::move(socket_);
}

}  // namespace tenon::tls
