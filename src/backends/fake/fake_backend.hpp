// A backend for tests: no process, no kernel, a directory of the host as its workspace. It understands the commands of
// TinyShell and behaves as the contract of core::Sandbox says.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "core/backend.hpp"

namespace skerry::backends::fake {

inline constexpr std::string_view kName = "fake";

// The abilities of a fake of this strength: from namespaces on all that the native sandbox can, except for layers.
core::Abilities AbilitiesOf(core::Strength strength);

class FakeBackend : public core::Backend {
 public:
  explicit FakeBackend(core::Strength strength = core::Strength::kNamespaces, std::string_view name = kName)
      : FakeBackend(AbilitiesOf(strength), name) {}
  FakeBackend(const core::Abilities& abilities, std::string_view name) : abilities_(abilities), name_(name) {}

  [[nodiscard]] std::string_view Name() const override { return name_; }
  [[nodiscard]] core::Abilities Can() const override { return abilities_; }
  [[nodiscard]] core::Availability Probe(base::Deadline) override { return {true, "for tests"}; }
  base::Result<std::unique_ptr<core::Sandbox>> Create(const core::SandboxSpec& spec) override;

  // How many sandboxes of this backend are started now.
  [[nodiscard]] int Running() const { return running_; }
  [[nodiscard]] int Created() const { return created_; }

 private:
  core::Abilities abilities_;
  std::string name_;
  std::atomic<int> running_ = 0;
  std::atomic<int> created_ = 0;
};

}  // namespace skerry::backends::fake
