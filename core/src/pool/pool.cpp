#include "pool/pool.hpp"

#include <pthread.h>

#include <system_error>
#include <utility>

#include "loop/run_on.hpp"
#include "tenon/app.hpp"

namespace tenon {

namespace {
thread_local bool is_pool_thread = false;
}  // namespace

bool on_pool_thread() noexcept { return is_pool_thread; }

Result<std::unique_ptr<Pool>> Pool::start(std::string name, std::size_t threads, std::size_t queue) {
  std::unique_ptr<Pool> pool(new Pool(std::move(name), queue));
  pool->queue_.prev_ = pool->queue_.next_ = &pool->queue_;
  for (std::size_t i = 0; i < threads; ++i) {
    auto worker = std::make_unique<Worker>();
    worker->pool = pool.get();
    worker->run = [](Work* work) noexcept {
      auto* self = static_cast<Worker*>(work);
      self->pool->take(*self);
    };
    try {
      worker->loop.start();
    } catch (const std::system_error& error) {
      return Error(Errc::unavailable, "pool \"" + pool->name_ + "\": thread " + std::to_string(i + 1) + " of " +
                                          std::to_string(threads) + " could not be started: " + error.what() +
                                          "; ask for fewer, or raise the limit of processes (ulimit -u)");
    }
    pool->workers_.push_back(std::move(worker));
    Worker& started = *pool->workers_.back();
    run_on(started.loop, [&pool] {
      is_pool_thread = true;
      // The system keeps 15 characters.
      pthread_setname_np(pthread_self(), ("pool " + pool->name_).substr(0, 15).c_str());
    });
    std::lock_guard lock(pool->mutex_);
    started.next_idle = std::exchange(pool->idle_, &started);
    ++pool->idle_count_;
  }
  return pool;
}

Pool::~Pool() { stop(); }

void Pool::stop() {
  for (const auto& worker : workers_) worker->loop.stop();
}

// Who should look into the queue: a list of idle threads. One on which no handler is suspended is surely free. The
// others may be going on with a handler just now, which nobody sees from here, so all of them are asked.
Pool::Worker* Pool::claim() noexcept {
  Worker* first = idle_;
  for (Worker** at = &idle_; *at; at = &(*at)->next_idle) {
    Worker* worker = *at;
    if (worker->unfinished.load(std::memory_order_relaxed) != 0) continue;
    *at = std::exchange(worker->next_idle, nullptr);
    worker->claimed = true;
    --idle_count_;
    ++claimed_;
    return worker;
  }
  for (Worker* worker = idle_; worker; worker = worker->next_idle) worker->claimed = true;
  claimed_ += std::exchange(idle_count_, 0);
  idle_ = nullptr;
  return first;
}

bool Pool::submit(Job& job) noexcept {
  Worker* wanted;
  {
    std::lock_guard lock(mutex_);
    // What idle and claimed threads will take at once does not wait.
    if (queued_ >= limit_ + idle_count_ + claimed_) {
      ++rejected_;
      return false;
    }
    job.worker_ = nullptr;
    job.prev_ = queue_.prev_;
    job.next_ = &queue_;
    queue_.prev_->next_ = &job;
    queue_.prev_ = &job;
    ++queued_;
    wanted = claim();
  }
  while (wanted) {
    Worker* next = std::exchange(wanted->next_idle, nullptr);
    wanted->loop.post(*wanted);
    wanted = next;
  }
  return true;
}

Loop* Pool::withdraw(Job& job) noexcept {
  std::lock_guard lock(mutex_);
  if (job.worker_) return &job.worker_->loop;
  job.prev_->next_ = job.next_;
  job.next_->prev_ = job.prev_;
  --queued_;
  return nullptr;
}

void Pool::take(Worker& worker) noexcept {
  worker.loop.refresh();  // what ran before this in the same turn may have taken long
  const TimePoint now = worker.loop.clock().now();
  while (true) {
    Job* job;
    bool expired;
    {
      std::lock_guard lock(mutex_);
      if (std::exchange(worker.claimed, false)) --claimed_;
      job = queue_.next_;
      if (job == &queue_) {
        worker.next_idle = std::exchange(idle_, &worker);
        ++idle_count_;
        return;
      }
      queue_.next_ = job->next_;
      job->next_->prev_ = &queue_;
      --queued_;
      job->worker_ = &worker;
      expired = job->deadline <= now;
      if (expired)
        ++expired_;
      else
        worker.unfinished.fetch_add(1, std::memory_order_relaxed);
    }
    job->run(*job, expired);
    if (!expired) break;
  }
  worker.loop.post(worker);  // timers and resumed handlers of this thread come between two requests
}

void Pool::ended(Job& job) noexcept { job.worker_->unfinished.fetch_sub(1, std::memory_order_relaxed); }

PoolCounts Pool::counts() const {
  PoolCounts counts;
  counts.name = name_;
  counts.threads = workers_.size();
  counts.queue = limit_;
  for (const auto& worker : workers_) counts.running += worker->unfinished.load(std::memory_order_relaxed);
  std::lock_guard lock(mutex_);
  counts.busy = workers_.size() - idle_count_;
  counts.queued = queued_;
  counts.rejected = rejected_;
  counts.expired = expired_;
  return counts;
}

std::string Pool::full_text() const {
  return "pool \"" + name_ + "\" is full: " + std::to_string(workers_.size()) + " threads are busy and " +
         std::to_string(limit_) + " requests wait";
}

}  // namespace tenon
