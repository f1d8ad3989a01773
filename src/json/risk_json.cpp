#include "json/risk_json.hpp"

#include <nlohmann/json.hpp>

#include "base/utf8.hpp"

namespace skerry::json {

using Json = nlohmann::ordered_json;

Json RiskSummaryToJson(const core::RiskSummary& risk) {
  Json object;
  object["level"] = core::NameOf(risk.level);
  object["reason"] = base::ToValidUtf8(risk.reason);
  object["requires_confirmation"] = risk.requires_confirmation;
  object["requires_isolation"] = risk.requires_isolation;
  object["suggested_sandbox"] = core::NameOf(risk.suggested_sandbox);
  object["detected_patterns"] = risk.detected_patterns;
  object["lowerings"] = risk.lowerings;
  return object;
}

Json RiskToJson(const core::RiskAssessment& risk) {
  Json object = RiskSummaryToJson(risk.Summary());
  Json findings = Json::array();
  for (const core::Finding& finding : risk.findings) {
    findings.push_back({{"rule", finding.rule},
                        {"level", core::NameOf(finding.level)},
                        {"reject", finding.reject},
                        {"line", finding.line},
                        {"column", finding.column},
                        {"text", base::ToValidUtf8(finding.text)},
                        {"explanation", finding.explanation}});
    if (!finding.source.empty()) findings.back()["source"] = base::ToValidUtf8(finding.source);
  }
  object["findings"] = std::move(findings);
  return object;
}

}  // namespace skerry::json
