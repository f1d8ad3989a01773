// Skerry itself as the subject of its benchmark, through the interface that programs use.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bench/subject.hpp"
#include "core/backend_registry.hpp"
#include "engine/sandbox_manager.hpp"

namespace skerry::bench {

// What is measured: a manager with a pool, as a daemon has one, and the native backend below it.
class Stand {
 public:
  // `registry` with interpreters kept loaded.
  static base::Result<std::unique_ptr<Stand>> Make(std::unique_ptr<core::BackendRegistry> registry,
                                                   engine::PoolOptions pool);

  // One for each workload; they refer to this object, which must outlive them.
  std::vector<Subject> Subjects();

  [[nodiscard]] engine::SandboxManager& manager() { return *manager_; }
  [[nodiscard]] core::Backend& native() { return *native_; }

  // A sandbox with an interpreter, started and parked, as a pool has them.
  base::Result<std::unique_ptr<core::Sandbox>> Park(core::Preload preload);

  // One warm run; the output must be right and the interpreter must have waited.
  base::Result<Sample> RunWarm(core::Language language, const std::string& code, const std::string& expected);

 private:
  Stand() = default;
  base::Result<Sample> RunCold();
  base::Result<Sample> RunHundred();
  base::Result<Sample> RunCell();
  Subject Warm(const std::string& group, core::Language language);

  std::unique_ptr<core::BackendRegistry> registry_;
  std::unique_ptr<engine::SandboxManager> manager_;
  core::Backend* native_ = nullptr;
  // Behind what it was made by, so that it goes first.
  std::unique_ptr<core::Sandbox> cell_sandbox_;
  std::unique_ptr<core::Context> context_;
};

}  // namespace skerry::bench
