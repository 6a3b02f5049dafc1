#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "answers.hpp"
#include "follower.hpp"
#include "registration.hpp"

namespace tenon::consul {

/// What operators said about the registrations of one group (weight, whether it serves), which lies over what their
/// providers say until those say something else. Threads: the executor's. Ownership: whoever listens, and a run.
class GroupWords final : public Follower {
 public:
  GroupWords(std::shared_ptr<Agent> agent, const std::string& group);

  /// Somebody who is told when there is something new; unlinks itself when destroyed.
  class Listener {
   public:
    Listener(std::shared_ptr<GroupWords> words, std::function<void()> heard);
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener();
    const GroupWords& words() const noexcept { return *words_; }

   private:
    friend class GroupWords;
    const std::shared_ptr<GroupWords> words_;
    const std::function<void()> heard_;
  };

  /// They are known, or it is known that they cannot be.
  bool settled() const noexcept { return settled_; }
  /// Null: nobody said anything.
  const Word* find(const std::string& registration) const noexcept;
  void apply_to(Provider& provider) const;

 private:
  Task<Result<void>> learn(const Answer& answer, bool anew) override;
  void on_stale(const Error& why) override;
  void tell();

  const std::string folder_;
  bool settled_ = false;
  std::map<std::string, Word> words_;  // by what is behind the folder in the key
  std::set<Listener*> listeners_;
};

/// The words of an answer with keys, by what is behind `folder`; those that make no sense are left out and logged.
Result<std::map<std::string, Word>> read_words(const Answer& answer, std::string_view folder, Log& log);

}  // namespace tenon::consul
