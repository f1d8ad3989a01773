// The JSON form of an assessment, with the names of SPEC S2.1.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/risk.hpp"

namespace skerry::json {

// Valid JSON whatever the code holds.
nlohmann::ordered_json RiskToJson(const core::RiskAssessment& risk);

// The same without the single findings, for a result.
nlohmann::ordered_json RiskSummaryToJson(const core::RiskSummary& risk);

}  // namespace skerry::json
