#include "backends/remote_fake/server.hpp"

#include <thread>
#include <utility>

namespace skerry::backends::remote_fake {
namespace {

base::Error GaveUp() {
  return {base::Code::kTimeout, "no answer of the server came in time"};
}

base::Status Wait(std::chrono::milliseconds time, base::Deadline deadline, const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kStep{1};
  for (const auto end = base::Deadline::After(time); !end.Expired(); std::this_thread::sleep_for(kStep))
    if (deadline.Expired() || stop.stop_requested()) return std::unexpected(GaveUp());
  return {};
}

}  // namespace

void Server::Upset(const std::string& call, Trouble trouble, int times) {
  const std::scoped_lock lock(mutex_);
  upset_[call] = {trouble, times};
}

Trouble Server::TakeTrouble(const std::string& call) {
  const std::scoped_lock lock(mutex_);
  const auto found = upset_.find(call);
  if (found == upset_.end() || found->second.times <= 0) return Trouble::kNone;
  --found->second.times;
  return found->second.trouble;
}

void Server::LoseMachines() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [id, owned] : machines_) owned.machine->End();
  machines_.clear();
}

std::size_t Server::CountMachines() const {
  const std::scoped_lock lock(mutex_);
  return machines_.size();
}

std::size_t Server::RemoveOrphans() {
  const std::scoped_lock lock(mutex_);
  return std::erase_if(machines_, [](const auto& entry) {
    if (!entry.second.lease.expired()) return false;
    entry.second.machine->End();
    return true;
  });
}

base::Status Server::Call(const std::string& call, const std::shared_ptr<Machine>& machine, base::Deadline deadline,
                          const std::stop_token& stop, const std::function<base::Status()>& act) {
  const Trouble trouble = TakeTrouble(call);
  constexpr std::chrono::milliseconds kForEver = std::chrono::hours(24);
  SKERRY_RETURN_IF_ERROR(Wait(trouble == Trouble::kHang ? kForEver : weather_.latency, deadline, stop));
  if (trouble == Trouble::kFail) return base::Err(base::Code::kUnavailable, "the server says: 503");
  const auto check_alive = [&]() -> base::Status {
    if (machine == nullptr || machine->alive()) return {};
    return base::Err(base::Code::kUnavailable, "the server has no machine " + machine->id());
  };
  SKERRY_RETURN_IF_ERROR(check_alive());
  const auto done = act();
  // A machine that vanished meanwhile has not answered.
  SKERRY_RETURN_IF_ERROR(check_alive());
  if (trouble == Trouble::kLose) return base::Err(base::Code::kUnavailable, "the connection to the server was lost");
  return done;
}

base::Result<std::shared_ptr<Machine>> Server::Make(const Lease& lease, base::Deadline deadline,
                                                    const std::stop_token& stop) {
  std::shared_ptr<Machine> made;
  SKERRY_RETURN_IF_ERROR(Call("make", nullptr, deadline, stop, [&]() -> base::Status {
    SKERRY_RETURN_IF_ERROR(Wait(weather_.making, deadline, stop));
    const std::scoped_lock lock(mutex_);
    made = std::make_shared<Machine>("m" + std::to_string(next_++));
    machines_.emplace(made->id(), Owned{made, lease});
    return {};
  }));
  return made;
}

base::Status Server::Delete(const std::string& machine, base::Deadline deadline) {
  return Call("delete", nullptr, deadline, {}, [&]() -> base::Status {
    const std::scoped_lock lock(mutex_);
    if (const auto found = machines_.extract(machine)) found.mapped().machine->End();
    return {};
  });
}

}  // namespace skerry::backends::remote_fake
