#pragma once
#include <boost/asio/detail/config.hpp>

#include "tenon/clock.hpp"
#include "tenon/export.hpp"

namespace boost::asio {
class io_context;
}

namespace tenon {

/// Something to run on an executor, embedded in its owner: posting allocates nothing.
struct Work {
  Work* next = nullptr;
  void (*run)(Work*) noexcept = nullptr;  ///< may destroy the Work
};

/// One io thread's loop. Connections, clients and handlers live on one executor for life.
class TENON_SPI Executor {
 public:
  virtual ~Executor();
  /// Queues `work` for the executor's thread. Threads: any. Never runs it inline. Order of posts from one thread is
  /// kept. After the loop has ended the work is still run, by whoever ends it, so that nothing is lost.
  virtual void post(Work& work) noexcept = 0;
  /// True on the executor's thread (or on the thread that is driving its loop).
  virtual bool here() const noexcept = 0;
  virtual Clock& clock() noexcept = 0;
  /// For sockets, resolvers and completion tokens of Boost.Asio. One thread at a time runs it.
  virtual boost::asio::io_context& context() noexcept = 0;

  /// The executor the calling thread belongs to, null on foreign threads.
  static Executor* current() noexcept;
  /// Made current for a scope by the loop itself. For implementers of Executor only.
  class TENON_SPI Current {
   public:
    explicit Current(Executor& executor) noexcept;
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    Executor* previous_;
  };
};

}  // namespace tenon
