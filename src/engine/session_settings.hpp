// What a session of a daemon was made with.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/backend.hpp"
#include "core/execution.hpp"
#include "core/service_store.hpp"

namespace skerry::engine {

// The modes of S1.6, without one-shot, which needs no session.
enum class LifeMode { kPerSession, kShared, kDisabled };
std::string_view NameOf(LifeMode mode);
std::optional<LifeMode> ParseLifeMode(std::string_view name);

struct SessionSettings {
  LifeMode mode = LifeMode::kPerSession;
  std::string backend{core::kAutoSandbox};
  std::optional<std::string> image;
  core::SandboxLimits limits;
  std::chrono::seconds timeout{30};  // of a run that names none
  std::map<std::string, std::string> environment;
  std::set<std::string> secrets;  // variables of it whose values nobody may see
  std::map<std::string, std::string> metadata;
  std::chrono::seconds idle{300};  // after which the sandbox is ended

  bool operator==(const SessionSettings&) const = default;
};

struct NewSession {
  std::optional<std::string> name;  // that its tenant calls it by; none: a new one is made up
  SessionSettings settings;
  std::optional<std::chrono::seconds> ttl;
  std::optional<core::IdempotencyClaim> claim;
};

// One line of text, and back.
std::string EncodeSettings(const SessionSettings& settings);
base::Result<SessionSettings> DecodeSettings(std::string_view text);

}  // namespace skerry::engine
