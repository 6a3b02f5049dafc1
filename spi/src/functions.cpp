#include "tenon/functions.hpp"

namespace tenon {

namespace detail {
Error bad_request(Error error, const Request& request) {
  if (error.code() == Errc::malformed) {
    Error refused(Errc::invalid_argument,
                  request.target->service->text() + "." + std::string(request.target->method->name) +
                      ": the request cannot be decoded: " + error.text(),
                  Delivery::not_run, Advice::never);
    return refused;
  }
  return std::move(error).deliver(Delivery::not_run).advise(Advice::never);
}
}  // namespace detail

Functions::Functions(std::string interface) : interface_(std::move(interface)) {}
Functions::~Functions() = default;
Functions::Function::~Function() = default;

void Functions::add(std::string_view name, const MessageType& input, const MessageType& output, bool idempotent,
                    std::unique_ptr<Function> function, Shape shape) {
  names_.emplace_back(name);
  methods_.push_back(Method{names_.back(), shape, &input, &output, idempotent});
  functions_.push_back(std::move(function));
}

}  // namespace tenon
