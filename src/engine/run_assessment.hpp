// The risk of a run: of its code, of the files and the input that it runs besides, and of its variables.
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

// The run to assess, and what of its surroundings can be read. Borrowed.
struct AssessedRun {
  core::Language language = core::Language::kPython;
  std::string_view code;
  // Code that ran earlier in the same shell and may have changed where this code looks for other code. It is not
  // assessed again.
  std::string_view before;
  std::string_view directory;  // where the code begins; "" for the workspace
  const std::map<std::string, std::string>& environment;
  int workspace = -1;  // the files as the program sees them; -1 for none
  Bytecode bytecode = Bytecode::kOfSession;
  const RunInput& input;      // that the program reads
  bool has_terminal = false;  // at which a person may type
};

// As Gate::Assess. The gravest finding counts, and each finding names its source.
base::Result<core::RiskAssessment> AssessRun(const Gate& gate, const AssessedRun& run, const AnalysisOwner& owner,
                                             const std::stop_token& stop);

}  // namespace skerry::engine
