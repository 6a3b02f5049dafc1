#pragma once
// What a factory gets besides its options, for components that use none of it.

#include <boost/asio/io_context.hpp>
#include <cstdlib>

#include "component/builder.hpp"
#include "tenon/environment.hpp"

namespace tenon::test {

class StubEnvironment {
 public:
  Environment environment() { return {executor_, log_, clock_}; }

 private:
  // Nothing tested with this arms a timer or posts work: doing so is a mistake of the test.
  class StubClock final : public Clock {
   public:
    TimePoint now() const noexcept override { return TimePoint(); }
    void arm(Alarm&, TimePoint) noexcept override { std::abort(); }
    void cancel(Alarm&) noexcept override {}
  };
  class StubLog final : public Log {
   public:
    bool enabled(Level) const noexcept override { return false; }
    void write(Level, std::string_view, std::string_view) noexcept override {}
  };
  class StubExecutor final : public Executor {
   public:
    explicit StubExecutor(Clock& clock) : clock_(clock) {}
    void post(Work&) noexcept override { std::abort(); }
    bool here() const noexcept override { return false; }
    Clock& clock() noexcept override { return clock_; }
    boost::asio::io_context& context() noexcept override { return context_; }

   private:
    Clock& clock_;
    boost::asio::io_context context_;
  };
  StubClock clock_;
  StubLog log_;
  StubExecutor executor_{clock_};
};

}  // namespace tenon::test
