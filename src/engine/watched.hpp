// Watched: every sandbox that programs run in now, for the monitor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/backend.hpp"
#include "core/record.hpp"

namespace skerry::engine {

struct WatchedSandbox {
  std::string tenant;
  std::string session;    // "" for a run of its own
  std::string execution;  // of a run of its own
  core::TimePoint since;
  core::Sandbox* sandbox = nullptr;

  // One name for the sandbox: that of the session, or of the run.
  [[nodiscard]] const std::string& key() const { return session.empty() ? execution : session; }
};

// Thread-safe. Tenants share the processors evenly, however many sandboxes each has: the busy sandboxes of a tenant
// split the share of one sandbox. The parts are powers of two, so that a new sandbox seldom changes them.
class Watched {
 public:
  Watched() = default;
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  // While it lives, the sandbox is looked at. Its end waits for a look at this sandbox only.
  class Registration {
   public:
    Registration() = default;
    Registration(Registration&& other) noexcept
        : watched_(std::exchange(other.watched_, nullptr)), number_(other.number_) {}
    Registration& operator=(Registration&& other) noexcept;
    ~Registration() { Leave(); }

   private:
    friend class Watched;
    Registration(Watched& watched, std::uint64_t number) : watched_(&watched), number_(number) {}
    void Leave();
    Watched* watched_ = nullptr;
    std::uint64_t number_ = 0;
  };
  // The sandbox must outlive its registration.
  [[nodiscard]] Registration Enter(WatchedSandbox sandbox);

  // Looks at the sandboxes one after the other, holding only the lock of the one that is looked at: a look may take its
  // time. Each look tells how much processor time the sandbox has used so far, or nothing where that is not known: then
  // the sandbox counts as busy, as does a new one.
  using Look = std::function<std::optional<std::chrono::nanoseconds>(const WatchedSandbox&)>;
  void ForEach(const Look& look);
  [[nodiscard]] std::size_t Count() const;

 private:
  struct Entry {
    WatchedSandbox sandbox;
    std::mutex looking;        // held while the sandbox is looked at; mutex_ is taken before it, never after
    bool left = false;         // guarded by `looking`: the sandbox may not be looked at any more
    std::uint32_t parts = 1;   // as the sandbox was told
    unsigned quiet_looks = 0;  // in a row
    std::optional<std::chrono::nanoseconds> used;
    std::chrono::steady_clock::time_point at;  // when `used` was read

    // A sandbox that is quiet only for a moment counts as busy.
    [[nodiscard]] bool busy() const { return quiet_looks < kQuietLooks; }
  };
  static constexpr unsigned kQuietLooks = 5;
  static void Notice(Entry& entry, std::optional<std::chrono::nanoseconds> used);
  // Needs the lock.
  void Share(const std::string& tenant);

  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<Entry>> sandboxes_;
  std::uint64_t next_ = 1;
};

}  // namespace skerry::engine
