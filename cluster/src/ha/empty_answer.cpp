#include "ha/empty_answer.hpp"

namespace tenon::cluster {

namespace {

/// A stream without messages.
class NoMessages final : public Messages {
 public:
  Task<Result<std::optional<StreamMessage>>> next() override {
    return ready<Result<std::optional<StreamMessage>>>(std::optional<StreamMessage>());
  }
  Headers& trailers() noexcept override { return trailers_; }

 private:
  Headers trailers_;
};

}  // namespace

Response empty_answer(Request& request) {
  Response answer;
  const Method& method = *request.target->method;
  if (method.shape == Shape::one_way) return answer;
  if (method.shape == Shape::server_stream) {
    answer.messages = std::make_unique<NoMessages>();
    return answer;
  }
  if (request.reply) {
    method.output->clear(request.reply);
    answer.payload.refer_to(*method.output, request.reply);
  } else {
    answer.payload = Payload::adopt(*method.output, method.output->create());
  }
  return answer;
}

bool is_callers_own(const Error& error) noexcept {
  switch (error.code()) {
    case Errc::invalid_argument:
    case Errc::cancelled:
    case Errc::would_deadlock:
    case Errc::config: return true;
    default: return false;
  }
}

}  // namespace tenon::cluster
