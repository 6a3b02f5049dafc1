#pragma once
#include <coroutine>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "loop/loop.hpp"

namespace tenon::admin {

/// One question to several loops, each answering on its own thread between two events; nobody waits but the asker, and
/// he at most `patience`. Awaited once, on `home`; the result has nothing where a loop did not answer in time.
/// Ownership: the question, and what it refers to, must live as long as the asked loops run: a late one still answers.
template <class Fact>
class Inquiry {
 public:
  using Loops = std::vector<std::shared_ptr<Loop>>;
  /// Called on the thread of loops[index].
  using Question = std::function<Fact(std::size_t index)>;

  Inquiry(std::shared_ptr<Loop> home, const Loops& asked, Question question, Duration patience)
      : home_(*home), asked_(asked), patience_(patience), state_(std::make_shared<State>()) {
    state_->home = std::move(home);
    state_->question = std::move(question);
    state_->facts.resize(asked.size());
    limit_.inquiry = this;
    limit_.fire = [](Alarm* alarm) { static_cast<Limit*>(alarm)->inquiry->finish(); };
  }
  Inquiry(const Inquiry&) = delete;
  Inquiry& operator=(const Inquiry&) = delete;
  ~Inquiry() {
    home_.clock().cancel(limit_);
    state_->waiting = nullptr;
  }

  bool await_ready() const noexcept { return asked_.empty(); }
  void await_suspend(std::coroutine_handle<> caller) {
    caller_ = caller;
    state_->waiting = this;
    state_->left = asked_.size();
    home_.clock().arm(limit_, home_.clock().now() + patience_);
    for (std::size_t index = 0; index < asked_.size(); ++index) {
      auto* ask = new Ask{{}, state_, index, {}};
      ask->run = &Ask::answer;
      asked_[index]->post(*ask);
    }
  }
  std::vector<std::optional<Fact>> await_resume() { return std::move(state_->facts); }

 private:
  /// Touched on the home loop, but for the question.
  struct State {
    std::shared_ptr<Loop> home;
    Question question;
    std::vector<std::optional<Fact>> facts;
    std::size_t left = 0;
    Inquiry* waiting = nullptr;
  };
  /// Travels to a loop and back.
  struct Ask : Work {
    Ask(Work work, std::shared_ptr<State> s, std::size_t i, std::optional<Fact> f)
        : Work(work), state(std::move(s)), index(i), fact(std::move(f)) {}
    static void answer(Work* work) noexcept {
      auto* ask = static_cast<Ask*>(work);
      ask->fact = ask->state->question(ask->index);
      ask->run = &Ask::deliver;
      // Delivering may be the home's last act, before post() has returned here.
      const std::shared_ptr<Loop> home = ask->state->home;
      home->post(*ask);
    }
    static void deliver(Work* work) noexcept {
      const std::unique_ptr<Ask> ask(static_cast<Ask*>(work));
      State& state = *ask->state;
      if (!state.waiting) return;
      state.facts[ask->index] = std::move(ask->fact);
      if (--state.left == 0) state.waiting->finish();
    }
    std::shared_ptr<State> state;
    std::size_t index;
    std::optional<Fact> fact;
  };
  struct Limit : Alarm {
    Inquiry* inquiry = nullptr;
  };

  void finish() {
    home_.clock().cancel(limit_);
    state_->waiting = nullptr;
    caller_.resume();
  }

  Loop& home_;
  const Loops& asked_;
  const Duration patience_;
  std::shared_ptr<State> state_;
  Limit limit_;
  std::coroutine_handle<> caller_;
};

}  // namespace tenon::admin
