// The text of a result that a model reads (S1.8).
#pragma once

#include <cstddef>
#include <string>

#include "core/execution.hpp"

namespace skerry::core {

inline constexpr std::size_t kTextFormLimit = 10'000;

// stdout, then `STDERR:` and stderr, then `Exit code: N` when not 0, `(no output)` when there is nothing; cut after
// kTextFormLimit characters (not bytes) with `... (truncated, N more chars)`.
std::string TextForm(const ExecutionResult& result);

}  // namespace skerry::core
