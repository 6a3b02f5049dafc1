#include "tenon/stream.hpp"

namespace tenon {

OpenStream::OpenStream(std::shared_ptr<Reference> reference, const Target& target) noexcept
    : reference_(std::move(reference)), target_(target) {
  move_.stream = close_.stream = this;
}

OpenStream::~OpenStream() = default;

void OpenStream::post(Post& post, Executor& executor, void (*run)(Work*) noexcept) noexcept {
  post.run = run;
  executor.post(post);
}

void OpenStream::open(const void* in, const CallOptions& options) {
  call_.emplace(*reference_, target_, in, nullptr, options);
  call_->keep_headers(&headers_);
  call_->make_cancellable();
  if (call_->start([](void* self) noexcept { static_cast<OpenStream*>(self)->on_opened(); }, this)) on_opened();
}

void OpenStream::on_opened() noexcept {
  switch (state_.exchange(opened, std::memory_order_acq_rel)) {
    case awaited:
      if (advance()) report();
      break;
    case closing:
      post(close_, reference_->executor(), [](Work* work) noexcept { static_cast<Post*>(work)->stream->destroy(); });
      break;
    default: break;
  }
}

bool OpenStream::next(void* into, void (*done)(void*) noexcept, void* argument) noexcept {
  into_ = into;
  done_ = done;
  argument_ = argument;
  origin_ = Executor::current();
  int seen = opening;
  if (state_.load(std::memory_order_acquire) != opened &&
      state_.compare_exchange_strong(seen, awaited, std::memory_order_acq_rel))
    return false;
  return advance();
}

bool OpenStream::advance() noexcept {
  if (call_->error()) {
    step_ = Step::failed;
    error_ = call_->error();
    return true;
  }
  Executor& home = reference_->executor();
  if (home.here()) return pull();
  post(move_, home, [](Work* work) noexcept {
    OpenStream* stream = static_cast<Post*>(work)->stream;
    if (stream->pull()) stream->report();
  });
  return false;
}

bool OpenStream::pull() noexcept {
  if (!std::exchange(pulled_, true)) messages_ = call_->take_messages();
  if (!messages_) {  // it is over, or never had any
    if (step_ == Step::message) step_ = Step::end;
    return true;
  }
  task_ = messages_->next();
  auto done = [](void* self) {
    auto* stream = static_cast<OpenStream*>(self);
    stream->arrived();
    stream->report();
  };
  if (!task_.start(done, this)) return false;
  arrived();
  return true;
}

void OpenStream::arrived() noexcept {
  const auto failed = [this](Error error) {
    step_ = Step::failed;
    error_ = std::move(error);
    messages_.reset();
  };
  Result<std::optional<StreamMessage>> result = std::optional<StreamMessage>();
  try {
    result = task_.take();
  } catch (const std::exception& e) {
    result = Error(Errc::internal, target_.service->text() + ": a filter threw: " + e.what(), Delivery::maybe_run);
  } catch (...) {
    result = Error(Errc::internal, target_.service->text() + ": a filter threw", Delivery::maybe_run);
  }
  task_ = {};
  if (!result.ok()) return failed(std::move(result).error());
  if (!*result) {
    step_ = Step::end;
    trailers_ = std::move(messages_->trailers());
    messages_.reset();
    return;
  }
  StreamMessage& message = **result;
  attachment_ = std::move(message.attachment);
  if (auto taken = message.payload.take_into(*target_.method->output, into_); !taken.ok())
    return failed(std::move(taken).error().prefix("message of " + target_.service->text()).deliver(Delivery::ran));
  step_ = Step::message;
}

void OpenStream::report() noexcept {
  if (!origin_ || origin_->here()) return done_(argument_);
  post(move_, *origin_, [](Work* work) noexcept {
    OpenStream* stream = static_cast<Post*>(work)->stream;
    stream->done_(stream->argument_);
  });
}

Result<bool> OpenStream::outcome() noexcept {
  if (step_ == Step::failed) return error_;
  return step_ == Step::message;
}

void OpenStream::close() noexcept {
  call_->leave_parent();
  post(close_, reference_->executor(), [](Work* work) noexcept {
    OpenStream* stream = static_cast<Post*>(work)->stream;
    if (stream->state_.exchange(closing, std::memory_order_acq_rel) == opened) return stream->destroy();
    stream->call_->cancel();  // its end, on_opened(), destroys
  });
}

void OpenStream::destroy() noexcept {
  messages_.reset();
  call_->take_messages().reset();
  call_->close_stream();
  delete this;
}

namespace detail {

Task<Result<bool>> next_message(OpenStream& stream, void* into) {
  NextMessage next{stream, into};
  co_await next;
  co_return stream.outcome();
}

namespace {
struct SyncNext {
  OpenStream& stream;
  void* into;
};
}  // namespace

Result<bool> wait_for_message(OpenStream& stream, void* into) {
  SyncNext next{stream, into};
  const Startable startable{&next, [](void* self, void (*done)(void*) noexcept, void* argument) noexcept {
                              auto* sync = static_cast<SyncNext*>(self);
                              return sync->stream.next(sync->into, done, argument);
                            }};
  if (Result<void> waited = stream.reference().run(startable); !waited.ok()) return std::move(waited).error();
  return stream.outcome();
}

}  // namespace detail

}  // namespace tenon
