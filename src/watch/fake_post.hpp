// For tests: takes the place of a server, keeps what it is sent, and answers as the test told it.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "watch/post.hpp"

namespace skerry::watch {

// Thread-safe.
class FakePost {
 public:
  using Answers = std::vector<base::Result<int>>;
  static constexpr std::chrono::seconds kPatience{10};

  // Gives the answers one after the other, the last one for ever.
  explicit FakePost(Answers answers) : state_(std::make_shared<State>()) { state_->answers = std::move(answers); }

  [[nodiscard]] Post post() const {
    return [state = state_](const Posting& posting) { return state->Take(posting); };
  }

  // Waits until so many postings have come; gives fewer when that takes too long.
  [[nodiscard]] std::vector<Posting> Await(std::size_t count) const {
    std::unique_lock lock(state_->mutex);
    (void)state_->changed.wait_for(lock, kPatience, [&] { return state_->postings.size() >= count; });
    return state_->postings;
  }

  // From now on answers wait until Resume.
  void Hold() const { state_->SetHeld(true); }
  void Resume() const { state_->SetHeld(false); }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    Answers answers;
    std::vector<Posting> postings;
    bool held = false;

    base::Result<int> Take(const Posting& posting) {
      std::unique_lock lock(mutex);
      postings.push_back(posting);
      changed.notify_all();
      changed.wait(lock, [&] { return !held; });
      return answers[std::min(postings.size(), answers.size()) - 1];
    }
    void SetHeld(bool now) {
      const std::scoped_lock lock(mutex);
      held = now;
      changed.notify_all();
    }
  };
  std::shared_ptr<State> state_;
};

// What was said, in order. Thread-safe.
class Sayings {
 public:
  [[nodiscard]] std::function<void(const std::string&)> listener() {
    return [this](const std::string& text) {
      const std::scoped_lock lock(mutex_);
      texts_.push_back(text);
    };
  }
  [[nodiscard]] std::vector<std::string> texts() const {
    const std::scoped_lock lock(mutex_);
    return texts_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
};

// Whether that became true in time.
inline bool Eventually(const std::function<bool()>& is_so) {
  const auto deadline = std::chrono::steady_clock::now() + FakePost::kPatience;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace skerry::watch
