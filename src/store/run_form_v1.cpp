#include "store/run_form_v1.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace skerry::store {
namespace {

core::RiskSummary RiskFrom(const Form& form) {
  if (form.empty()) return {};
  return {
      .assessed = true,
      .level = core::ParseRiskLevel(TextIn(form, "level")).value_or(core::RiskLevel::kSafe),
      .reason = TextIn(form, "reason"),
      .requires_confirmation = FlagIn(form, "requires_confirmation"),
      .requires_isolation = FlagIn(form, "requires_isolation"),
      .suggested_sandbox =
          core::ParseSuggestedSandbox(TextIn(form, "suggested_sandbox")).value_or(core::SuggestedSandbox::kSubprocess),
      .detected_patterns = TextsIn(form, "detected_patterns"),
      .lowerings = TextsIn(form, "lowerings")};
}

core::Timings TimingsFrom(const Form& form) {
  const auto time = [&](const char* name) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(RealIn(form, name) * 1e6));
  };
  return {.obtain = time("obtain"), .run = time("run"), .finish = time("finish")};
}

// How it ended is there in words only.
core::Outcome OutcomeFrom(const Form& form) {
  constexpr std::string_view kRejected = "Rejected: ";
  core::Outcome outcome{.kind = core::ParseOutcomeKind(TextIn(form, "outcome")).value_or(core::OutcomeKind::kExited),
                        .exit_code = IntegerIn<int>(form, "exit_code")};
  if (outcome.kind == core::OutcomeKind::kExited) return outcome;
  outcome.reason = TextIn(form, "error");
  if (outcome.kind == core::OutcomeKind::kRejected && outcome.reason.starts_with(kRejected))
    outcome.reason.erase(0, kRejected.size());
  return outcome;
}

std::optional<core::CellError> CellErrorFrom(const Form& form) {
  core::CellError error{.name = TextIn(form, "error_name"), .traceback = TextIn(form, "traceback")};
  if (error.name.empty() && error.traceback.empty()) return std::nullopt;
  const std::string line = TextIn(form, "error");
  if (line.starts_with(error.name + ": ")) error.message = line.substr(error.name.size() + 2);
  return error;
}

core::CellDetails CellFrom(const Form& form) {
  core::CellDetails cell{.context = TextIn(form, "context"),
                         .language = core::ParseLanguage(TextIn(form, "language")).value_or(core::Language::kPython),
                         .number = IntegerIn<std::uint64_t>(form, "cell"),
                         .outputs_left_out = IntegerIn<std::size_t>(form, "outputs_total"),
                         .error = CellErrorFrom(form),
                         .alive = FlagIn(form, "alive")};
  for (const Form& output : ListIn(form, "outputs")) {
    core::CellOutput& made = cell.outputs.emplace_back();
    if (TextIn(output, "kind") == "result") made.kind = core::CellOutput::Kind::kResult;
    for (const auto& [mime, data] : ObjectIn(output, "data").items()) made.forms.push_back({mime, Text(data)});
  }
  return cell;
}

void TakeFiles(const Form& form, core::ExecutionResult& result) {
  result.files_created = TextsIn(form, "files_created");
  result.files_changed = TextsIn(form, "files_changed");
  result.files_deleted = TextsIn(form, "files_deleted");
  result.files_withheld = WithheldIn(form, "files_withheld");
  result.files_to_review = WithheldIn(form, "files_to_review");
  const Form& total = ObjectIn(form, "files_total");
  if (total.empty()) return;
  result.files_total = {.created = IntegerIn<std::size_t>(total, "created"),
                        .changed = IntegerIn<std::size_t>(total, "changed"),
                        .deleted = IntegerIn<std::size_t>(total, "deleted"),
                        .withheld = IntegerIn<std::size_t>(total, "withheld"),
                        .to_review = IntegerIn<std::size_t>(total, "to_review")};
}

}  // namespace

core::RunEnd DecodeEndV1(core::RunState state, const Form& form) {
  core::RunEnd end{.state = state};
  if (const std::string code = TextIn(form, "error_code"); !code.empty()) {
    end.error = base::Error{CodeNamed(code), TextIn(form, "error")};
    return end;
  }
  end.result = {.execution_id = TextIn(form, "execution_id"),
                .outcome = OutcomeFrom(form),
                .risk = RiskFrom(ObjectIn(form, "risk")),
                .output_truncated = FlagIn(form, "output_truncated"),
                .output_bytes = IntegerIn<std::uint64_t>(form, "output_bytes"),
                .sandbox_type = TextIn(form, "sandbox_type"),
                .start = core::ParseStartKind(TextIn(form, "start")).value_or(core::StartKind::kExec),
                .execution_time = std::chrono::milliseconds(IntegerIn<std::int64_t>(form, "execution_time_ms")),
                .timings = TimingsFrom(ObjectIn(form, "timings_ms")),
                .memory_peak_bytes = IntegerIn<std::uint64_t>(form, "memory_peak_bytes"),
                .diff = TextIn(form, "diff"),
                .approved_by = TextIn(form, "approved_by"),
                .limits_reached = LimitsIn(form, "limits_reached"),
                .degraded = TextsIn(form, "degraded")};
  TakeFiles(form, end.result);
  if (form.contains("context")) end.result.cell = CellFrom(form);
  return end;
}

}  // namespace skerry::store
