// Ticker: wakes silent streams now and then, so that they can send a sign of life.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace skerry::transport::kit {

// Thread-safe.
class Ticker {
 public:
  explicit Ticker(std::chrono::milliseconds every);

  // As long as the registration lives, the ticker's thread calls `tick`. It must not outlive the ticker.
  class Registration {
   public:
    Registration() = default;
    Registration(Registration&& other) noexcept : ticker_(std::exchange(other.ticker_, nullptr)), id_(other.id_) {}
    Registration& operator=(Registration&& other) noexcept;
    ~Registration();

   private:
    friend class Ticker;
    Registration(Ticker& ticker, std::uint64_t id) : ticker_(&ticker), id_(id) {}
    Ticker* ticker_ = nullptr;
    std::uint64_t id_ = 0;
  };
  [[nodiscard]] Registration Register(std::function<void()> tick);
  void TickNow();

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::function<void()>> ticks_;
  std::uint64_t next_ = 1;
  std::jthread thread_;
};

}  // namespace skerry::transport::kit
