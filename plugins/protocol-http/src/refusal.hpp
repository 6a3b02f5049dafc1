#pragma once
#include <string>
#include <utility>

#include "tenon/result.hpp"

namespace tenon::http {

/// What the session itself answers to a request.
struct Refusal {
  int status = 0;  ///< 0: there is no refusal
  Error error;
  std::string fields{};  ///< lines of the answer's head, each with CRLF
  bool fatal = false;    ///< nobody can say where the next request begins: the connection ends
  bool linger = false;   ///< fatal, and the peer is probably still sending: it is heard out before it is cut off

  explicit operator bool() const noexcept { return status != 0; }
};

inline Refusal refusal(int status, Errc code, std::string text, std::string fields = {}) {
  return {status, Error(code, std::move(text), Delivery::not_run, Advice::never), std::move(fields)};
}
inline Refusal fatal_refusal(int status, Error error) { return {status, std::move(error), {}, true, false}; }

}  // namespace tenon::http
