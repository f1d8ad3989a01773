// The remote fake: a backend for tests that uses nothing of this machine. No path, no descriptor, no layer; every call
// goes to a server that takes its time, and can fail, hang, lose an answer and lose the sandbox.
#pragma once

#include <memory>
#include <string_view>

#include "backends/remote_fake/server.hpp"
#include "core/backend.hpp"

namespace skerry::backends::remote_fake {

inline constexpr std::string_view kName = "remote_fake";

class RemoteFakeBackend : public core::Backend {
 public:
  explicit RemoteFakeBackend(std::shared_ptr<Server> server) : server_(std::move(server)) {}

  [[nodiscard]] std::string_view Name() const override { return kName; }
  [[nodiscard]] core::Abilities Can() const override;
  [[nodiscard]] core::Availability Probe(base::Deadline deadline) override;
  base::Status SweepOrphans(base::Deadline deadline) override;
  base::Result<std::unique_ptr<core::Sandbox>> Create(const core::SandboxSpec& spec) override;

 private:
  std::shared_ptr<Server> server_;
  // The lease on this backend's machines: they outlive the backend until another one sweeps orphans.
  Server::Lease lease_ = std::make_shared<int>(0);
};

}  // namespace skerry::backends::remote_fake
