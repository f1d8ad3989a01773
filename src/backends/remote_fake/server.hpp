// Server: the far side of the remote fake, like a service on another machine: sandboxes ("machines") by id, each with
// files in memory and programs of TinyShell. A test keeps it while backends come and go, and tells it how to misbehave.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "backends/remote_fake/machine.hpp"
#include "base/deadline.hpp"
#include "base/result.hpp"

namespace skerry::backends::remote_fake {

// What goes wrong with a call.
enum class Trouble {
  kNone,
  kFail,  // the server refuses the call: kUnavailable, and nothing was done
  kHang,  // no answer ever comes
  kLose,  // the call is carried out, and the answer is lost: kUnavailable
};

struct Weather {
  std::chrono::milliseconds latency{200};  // of each call
  std::chrono::milliseconds making{0};     // of making a machine, on top of the latency
};

// Thread-safe.
class Server {
 public:
  explicit Server(const Weather& weather = {}) : weather_(weather) {}

  // The next `times` calls of this name ("make", "launch", "poll", "kill", "mark", "import", "export", "remove",
  // "read", "cell", "sample", "delete") get this trouble.
  void Upset(const std::string& call, Trouble trouble, int times = 1);
  // Every machine is lost, as after a power failure.
  void LoseMachines();
  [[nodiscard]] std::size_t CountMachines() const;
  // Removes machines whose lease has ended. Gives how many that were.
  std::size_t RemoveOrphans();

  // A lease ends with the backend that owns it, however that ends.
  using Lease = std::shared_ptr<const void>;

  // The calls of a client. Each waits for its latency, and gives up at the deadline or when `stop` is requested:
  // kTimeout.
  base::Result<std::shared_ptr<Machine>> Make(const Lease& lease, base::Deadline deadline, const std::stop_token& stop);
  base::Status Delete(const std::string& machine, base::Deadline deadline);
  base::Status Call(const std::string& call, const std::shared_ptr<Machine>& machine, base::Deadline deadline,
                    const std::stop_token& stop, const std::function<base::Status()>& act);

 private:
  struct Upsetting {
    Trouble trouble = Trouble::kNone;
    int times = 0;
  };
  struct Owned {
    std::shared_ptr<Machine> machine;
    std::weak_ptr<const void> lease;
  };
  [[nodiscard]] Trouble TakeTrouble(const std::string& call);

  const Weather weather_;
  mutable std::mutex mutex_;
  std::map<std::string, Upsetting> upset_;
  std::map<std::string, Owned> machines_;
  std::uint64_t next_ = 1;
};

}  // namespace skerry::backends::remote_fake
