// A backend for tests: no process, no kernel. It understands a handful of commands by itself (echo, true, false, sleep,
// cat, touch, ls, head -c N /dev/zero) and behaves as the contract of core::Sandbox says.
#pragma once

#include <atomic>

#include "core/backend.hpp"

namespace skerry::backends::fake {

inline constexpr std::string_view kName = "fake";

class FakeBackend : public core::Backend {
 public:
  explicit FakeBackend(core::IsolationLevel isolation = core::IsolationLevel::kNamespaces,
                       std::string_view name = kName)
      : isolation_(isolation), name_(name) {}

  [[nodiscard]] std::string_view Name() const override { return name_; }
  [[nodiscard]] core::IsolationLevel Isolation() const override { return isolation_; }
  [[nodiscard]] core::Availability Probe() const override { return {true, "for tests"}; }
  base::Result<std::unique_ptr<core::Sandbox>> Create(const core::SandboxSpec& spec) override;

  // How many sandboxes of this backend are started now.
  [[nodiscard]] int Running() const { return running_; }
  [[nodiscard]] int Created() const { return created_; }

 private:
  core::IsolationLevel isolation_;
  std::string name_;
  std::atomic<int> running_ = 0;
  std::atomic<int> created_ = 0;
};

}  // namespace skerry::backends::fake
