// The JSON form of an assessment, with the names of SPEC S2.1.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/risk.hpp"

namespace skerry::json {

// Valid JSON whatever stands in the code.
nlohmann::ordered_json RiskToJson(const core::RiskAssessment& risk);

// The same without the findings one by one, for a result that has much else to say.
nlohmann::ordered_json RiskSummaryToJson(const core::RiskSummary& risk);

}  // namespace skerry::json
