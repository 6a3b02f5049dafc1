#pragma once
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>

#include "tcp_stream.hpp"

namespace tenon::tls {

/// Sends the end of what was written after its stream has gone, as the kernel does for a plain socket; gives up after a
/// few seconds. Owned by its handlers: ends with the io_context at the latest.
/// Threads: the socket's executor's.
class LastWords : public std::enable_shared_from_this<LastWords> {
 public:
  static void say(std::unique_ptr<tcp::TcpStream> socket, std::string bytes);

 private:
  LastWords(tcp::Watched socket, std::string bytes);
  void go_on();

  tcp::Watched socket_;
  boost::asio::basic_waitable_timer<std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>,
                                    boost::asio::io_context::executor_type>
      limit_;
  const std::string bytes_;
  std::size_t sent_ = 0;
};

}  // namespace tenon::tls
