#include "engine/hosted_session.hpp"

namespace skerry::engine {

std::string_view NameOf(Condition condition) {
  switch (condition) {
    case Condition::kActive:
      return "active";
    case Condition::kIdle:
      return "idle";
    case Condition::kCreating:
      return "creating";
    case Condition::kPausing:
      return "pausing";
    case Condition::kPaused:
      return "paused";
    case Condition::kStopping:
      return "stopping";
    case Condition::kFailed:
      return "failed";
    case Condition::kCrashed:
      return "crashed";
  }
  return "";
}

Condition HostedSession::condition() const {
  switch (life_->state()) {
    case LifeState::kCreating:
      return Condition::kCreating;
    case LifeState::kReady:
    case LifeState::kRunning:
      return Condition::kActive;
    case LifeState::kPausing:
      return Condition::kPausing;
    case LifeState::kPaused:
      return Condition::kPaused;
    case LifeState::kStopping:
      return Condition::kStopping;
    case LifeState::kFailed:
      return Condition::kFailed;
    case LifeState::kResting:
    case LifeState::kGone:
      break;
  }
  const std::scoped_lock lock(mutex_);
  return crashed_ ? Condition::kCrashed : Condition::kIdle;
}

core::HostedSessionRecord HostedSession::record(bool in_use) const {
  const std::scoped_lock lock(mutex_);
  core::HostedSessionRecord record = record_;
  record.in_use = in_use;
  return record;
}

void HostedSession::SetExpiry(std::optional<core::TimePoint> at) {
  const std::scoped_lock lock(mutex_);
  record_.expires_at = at;
}

bool HostedSession::Expired(core::TimePoint now) const {
  const std::scoped_lock lock(mutex_);
  return record_.expires_at && *record_.expires_at <= now;
}

void HostedSession::Used() {
  const std::scoped_lock lock(mutex_);
  crashed_ = false;
}

bool HostedSession::BeginRemoval() {
  const std::scoped_lock lock(mutex_);
  return !std::exchange(removed_, true);
}

}  // namespace skerry::engine
