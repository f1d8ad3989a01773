// How the child between clone and exec tells the launcher what went wrong. No allocation; every failure ends the child.
#pragma once

#include <array>
#include <span>

#include "launcher/sandbox_child.hpp"

namespace skerry::launcher {

// The message of a failure: what was being done, cut to fit, and why it did not work.
struct SetupFailure {
  int error = 0;
  std::array<char, 252> step{};
};

[[noreturn]] void Fail(const ChildPlan& plan, int error, const char* step, const char* detail = "");

// Reports the step and ends the child unless `error` is 0.
void Check(const ChildPlan& plan, int error, const char* step, const char* detail = "");

// The result of a system call as 0 or an errno.
int Outcome(long result);

// What the child hands to the launcher as descriptors. They stay open in the child.
enum class Handout : char { kViews = 'v', kSocketDiagnosis = 'd', kMountNamespace = 'm' };
int HandOut(int report, Handout what, std::span<const int> fds);

}  // namespace skerry::launcher
