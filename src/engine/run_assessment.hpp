// The risk of what would run: of the code, of the files and the input that it runs besides, and of its variables.
#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/execution.hpp"
#include "core/risk.hpp"
#include "engine/gate.hpp"
#include "engine/local_code.hpp"
#include "engine/run_input.hpp"

namespace skerry::engine {

// What would run, and what of its surroundings can be looked at. Borrowed.
struct AssessedRun {
  core::Language language = core::Language::kPython;
  std::string_view code;
  // What ran before it in the same shell and may have changed where it looks for others. Only what is looked for
  // depends on that; nothing of it is assessed again.
  std::string_view before;
  std::string_view directory;  // where it begins; "" for the workspace
  const std::map<std::string, std::string>& environment;
  int workspace = -1;  // the files as it sees them; -1 for none
  Bytecode bytecode = Bytecode::kOfSession;
  const RunInput& input;      // that it reads
  bool has_terminal = false;  // at which somebody may type
};

// As Gate::Assess. The gravest of all that is met counts, and each finding has its source.
base::Result<core::RiskAssessment> AssessRun(const Gate& gate, const AssessedRun& run, const AnalysisOwner& owner,
                                             const std::stop_token& stop);

}  // namespace skerry::engine
