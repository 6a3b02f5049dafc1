#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "tenon/executor.hpp"
#include "tenon/result.hpp"

namespace tenon::cluster {

/// An observer that may be called on any thread: gives the news to (target.*apply)(index, news) on `executor`, as long
/// as the target lives. The target ends there, too.
template <class News, class Target>
std::function<void(const Result<News>&)> deliver_on(Executor& executor, std::weak_ptr<Target> target,
                                                    void (Target::*apply)(std::size_t, const Result<News>&),
                                                    std::size_t index) {
  struct Post : Work {
    explicit Post(Result<News> n) : news(std::move(n)) {}
    Result<News> news;
    std::weak_ptr<Target> target;
    void (Target::*apply)(std::size_t, const Result<News>&) = nullptr;
    std::size_t index = 0;
  };
  return [&executor, target = std::move(target), apply, index](const Result<News>& news) {
    if (executor.here()) {
      if (const auto alive = target.lock()) ((*alive).*apply)(index, news);
      return;
    }
    auto* post = new Post(news);
    post->target = target;
    post->apply = apply;
    post->index = index;
    post->run = [](Work* work) noexcept {
      const std::unique_ptr<Post> self(static_cast<Post*>(work));
      if (const auto alive = self->target.lock()) ((*alive).*self->apply)(self->index, self->news);
    };
    executor.post(*post);
  };
}

}  // namespace tenon::cluster
