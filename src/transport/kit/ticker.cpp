#include "transport/kit/ticker.hpp"

#include <condition_variable>
#include <stop_token>

namespace skerry::transport::kit {

Ticker::Ticker(std::chrono::milliseconds every)
    : thread_([this, every](const std::stop_token& stop) {
        std::mutex mutex;
        std::condition_variable_any waiting;
        for (;;) {
          std::unique_lock lock(mutex);
          (void)waiting.wait_for(lock, stop, every, [&] { return stop.stop_requested(); });
          if (stop.stop_requested()) return;
          TickNow();
        }
      }) {}

void Ticker::TickNow() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [id, tick] : ticks_) tick();
}

Ticker::Registration Ticker::Register(std::function<void()> tick) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t id = next_++;
  ticks_.emplace(id, std::move(tick));
  return {*this, id};
}

Ticker::Registration& Ticker::Registration::operator=(Registration&& other) noexcept {
  std::swap(ticker_, other.ticker_);
  std::swap(id_, other.id_);
  return *this;
}

Ticker::Registration::~Registration() {
  if (ticker_ == nullptr) return;
  const std::scoped_lock lock(ticker_->mutex_);
  ticker_->ticks_.erase(id_);
}

}  // namespace skerry::transport::kit
