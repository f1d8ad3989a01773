// A session that a daemon keeps.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/service_store.hpp"
#include "core/session_name.hpp"
#include "engine/session_condition.hpp"
#include "engine/session_life.hpp"

namespace skerry::engine {

// Thread-safe.
class HostedSession {
 public:
  HostedSession(core::HostedSessionRecord record, SessionSettings settings, std::shared_ptr<SessionLife> life,
                Condition condition)
      : record_(std::move(record)),
        settings_(std::move(settings)),
        life_(std::move(life)),
        crashed_(condition == Condition::kCrashed) {}

  [[nodiscard]] const std::string& id() const { return record_.id; }                               // unique for ever
  [[nodiscard]] std::string name() const { return std::string(core::NameOfSession(record_.id)); }  // the tenant's
  [[nodiscard]] const std::string& tenant() const { return record_.tenant; }
  [[nodiscard]] const SessionSettings& settings() const { return settings_; }
  [[nodiscard]] SessionLife& life() const { return *life_; }
  [[nodiscard]] const std::shared_ptr<SessionLife>& shared_life() const { return life_; }
  [[nodiscard]] Condition condition() const;
  [[nodiscard]] core::HostedSessionRecord record(bool in_use) const;
  void SetExpiry(std::optional<core::TimePoint> at);
  [[nodiscard]] bool Expired(core::TimePoint now) const;
  // The session is used again: it does not count as crashed any more.
  void Used();
  // Whether the caller is the first to ask, and so removes the session.
  bool BeginRemoval();

 private:
  mutable std::mutex mutex_;
  core::HostedSessionRecord record_;
  const SessionSettings settings_;
  const std::shared_ptr<SessionLife> life_;
  bool crashed_;
  bool removed_ = false;
};

}  // namespace skerry::engine
