// Watched: every sandbox that programs run in now, for whoever measures them.
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

  // One name for it: of the session, or of the run.
  [[nodiscard]] const std::string& key() const { return session.empty() ? execution : session; }
};

// Thread-safe. Tenants share the processors, however many sandboxes each has: those of a tenant that are busy have
// their parts of what one sandbox would have. The parts are powers of two, so that few have to be told of each that
// comes.
class Watched {
 public:
  Watched() = default;
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  // While it lives, the sandbox is looked at. Its end waits for a look at this sandbox, and for no other.
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
  // It must outlive its registrations.
  [[nodiscard]] Registration Enter(WatchedSandbox sandbox);

  // One after the other, with no lock held but that of the sandbox that is looked at: a look may take its time. Each
  // look tells how much of the processors the sandbox has used so far, or nothing where that is not known: the sandbox
  // counts as busy then, and when it is new.
  using Look = std::function<std::optional<std::chrono::nanoseconds>(const WatchedSandbox&)>;
  void ForEach(const Look& look);
  [[nodiscard]] std::size_t Count() const;

 private:
  struct Entry {
    WatchedSandbox sandbox;
    std::mutex looking;        // held while the sandbox is looked at; before it the other, never after
    bool left = false;         // with that lock: nobody may look any more
    std::uint32_t parts = 1;   // as it was told
    unsigned quiet_looks = 0;  // in a row
    std::optional<std::chrono::nanoseconds> used;
    std::chrono::steady_clock::time_point at;  // when that was

    // One that rests now and then is none that rests.
    [[nodiscard]] bool busy() const { return quiet_looks < kQuietLooks; }
  };
  static constexpr unsigned kQuietLooks = 5;
  static void Notice(Entry& entry, std::optional<std::chrono::nanoseconds> used);
  // With the lock.
  void Share(const std::string& tenant);

  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<Entry>> sandboxes_;
  std::uint64_t next_ = 1;
};

}  // namespace skerry::engine
