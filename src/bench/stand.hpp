// Skerry itself as a subject of its benchmark, through the interface that programs use.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bench/subject.hpp"
#include "core/backend_registry.hpp"
#include "engine/sandbox_manager.hpp"

namespace skerry::bench {

// The measured system: a manager with a pool, as a daemon has it, and the native backend below it.
class Stand {
 public:
  // `registry` must have been made with interpreters kept loaded.
  static base::Result<std::unique_ptr<Stand>> Make(std::unique_ptr<core::BackendRegistry> registry,
                                                   engine::PoolOptions pool);

  // One subject for each workload; they refer to this object, which must outlive them.
  std::vector<Subject> Subjects();

  [[nodiscard]] engine::SandboxManager& manager() { return *manager_; }
  [[nodiscard]] core::Backend& native() { return *native_; }

  // A sandbox with an interpreter, started and parked, as in a pool.
  base::Result<std::unique_ptr<core::Sandbox>> Park(core::Preload preload);

  // One warm run; fails unless the output is right and the interpreter was waiting.
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
  // Behind the members that made them, so that they are destroyed first.
  std::unique_ptr<core::Sandbox> cell_sandbox_;
  std::unique_ptr<core::Context> context_;
};

}  // namespace skerry::bench
