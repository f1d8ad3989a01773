// Warm sandboxes: started and empty, each kind with another interpreter ready in it. For programs that bring nothing
// but their text: a program that needs a directory, an image or other limits gets a new sandbox.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "core/backend.hpp"
#include "engine/pool.hpp"

namespace skerry::engine {

// Thread-safe. Each kind's pool starts with the first request for it. The backend must outlive it.
class WarmSandboxes {
 public:
  using Lease = Pool<core::Sandbox>::Lease;

  // `spec` is what every warm sandbox is made with.
  WarmSandboxes(core::Backend& backend, core::SandboxSpec spec, PoolOptions options)
      : backend_(backend), spec_(std::move(spec)), options_(options) {
    options_.stock_delay = std::max(options_.stock_delay, kStockDelay);
  }

  // Whether a warm sandbox can stand for one of this specification.
  [[nodiscard]] bool Fits(const core::SandboxSpec& spec) const;

  // A sandbox that is ready now, for a single use: to be discarded. Nothing when none is ready, or the kind is new.
  std::optional<Lease> Take(core::Preload kind);

  // Waits until the stock of the kind is full, or cannot be filled.
  void AwaitWarm(core::Preload kind, base::Deadline deadline);

  struct KindStatistics {
    core::Preload kind = core::Preload::kNone;
    PoolStatistics pool;
  };
  [[nodiscard]] std::vector<KindStatistics> Statistics() const;

 private:
  static constexpr std::size_t kKinds = 5;
  static constexpr std::chrono::milliseconds kStockDelay{3};  // longer than most programs take

  Pool<core::Sandbox>& PoolOf(core::Preload kind);

  core::Backend& backend_;
  core::SandboxSpec spec_;
  PoolOptions options_;
  mutable std::mutex mutex_;
  std::array<std::unique_ptr<Pool<core::Sandbox>>, kKinds> pools_;
  std::atomic<std::uint64_t> next_use_ = 1;
};

// The kind of warm sandbox that suits the program best.
core::Preload PreloadFor(const core::Code& code);

}  // namespace skerry::engine
