#include "engine/watched.hpp"

namespace skerry::engine {

Watched::Registration& Watched::Registration::operator=(Registration&& other) noexcept {
  if (this == &other) return *this;
  Leave();
  watched_ = std::exchange(other.watched_, nullptr);
  number_ = other.number_;
  return *this;
}

void Watched::Registration::Leave() {
  if (watched_ == nullptr) return;
  const std::scoped_lock lock(watched_->mutex_);
  watched_->sandboxes_.erase(number_);
  watched_ = nullptr;
}

Watched::Registration Watched::Enter(WatchedSandbox sandbox) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t number = next_++;
  sandboxes_.emplace(number, std::move(sandbox));
  return {*this, number};
}

void Watched::ForEach(const std::function<void(const WatchedSandbox&)>& look) {
  std::uint64_t number = 0;
  for (;;) {
    const std::scoped_lock lock(mutex_);
    const auto next = sandboxes_.upper_bound(number);
    if (next == sandboxes_.end()) return;
    number = next->first;
    look(next->second);
  }
}

std::size_t Watched::Count() const {
  const std::scoped_lock lock(mutex_);
  return sandboxes_.size();
}

}  // namespace skerry::engine
