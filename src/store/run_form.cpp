#include "store/run_form.hpp"

#include <chrono>
#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

#include "store/form_fields.hpp"
#include "store/run_form_v1.hpp"

namespace skerry::store {
namespace {

constexpr int kVersion = 2;

template <class T>
void Put(Form& form, const char* name, const T& value) {
  if (value != T{}) form[name] = value;
}

void PutTime(Form& form, const char* name, std::chrono::nanoseconds time) {
  Put(form, name, time.count());
}

Form OutcomeToForm(const core::Outcome& outcome) {
  Form form = {{"kind", core::NameOf(outcome.kind)}};
  Put(form, "exit_code", outcome.exit_code);
  Put(form, "signal", outcome.signal);
  Put(form, "limit", outcome.limit);
  Put(form, "reason", outcome.reason);
  return form;
}

core::Outcome OutcomeFrom(const Form& form) {
  return {.kind = core::ParseOutcomeKind(TextIn(form, "kind")).value_or(core::OutcomeKind::kExited),
          .exit_code = IntegerIn<int>(form, "exit_code"),
          .signal = IntegerIn<int>(form, "signal"),
          .limit = IntegerIn<std::uint64_t>(form, "limit"),
          .reason = TextIn(form, "reason")};
}

Form RiskToForm(const core::RiskSummary& risk) {
  Form form = {{"level", core::NameOf(risk.level)}, {"sandbox", core::NameOf(risk.suggested_sandbox)}};
  Put(form, "reason", risk.reason);
  Put(form, "confirm", risk.requires_confirmation);
  Put(form, "isolate", risk.requires_isolation);
  Put(form, "patterns", risk.detected_patterns);
  Put(form, "lowerings", risk.lowerings);
  return form;
}

core::RiskSummary RiskFrom(const Form& form) {
  if (form.empty()) return {};
  return {.assessed = true,
          .level = core::ParseRiskLevel(TextIn(form, "level")).value_or(core::RiskLevel::kSafe),
          .reason = TextIn(form, "reason"),
          .requires_confirmation = FlagIn(form, "confirm"),
          .requires_isolation = FlagIn(form, "isolate"),
          .suggested_sandbox =
              core::ParseSuggestedSandbox(TextIn(form, "sandbox")).value_or(core::SuggestedSandbox::kSubprocess),
          .detected_patterns = TextsIn(form, "patterns"),
          .lowerings = TextsIn(form, "lowerings")};
}

Form TimingsToForm(const core::Timings& timings) {
  Form form = Form::object();
  PutTime(form, "policy", timings.policy);
  PutTime(form, "approval", timings.approval);
  PutTime(form, "obtain", timings.obtain);
  PutTime(form, "run", timings.run);
  PutTime(form, "finish", timings.finish);
  return form;
}

core::Timings TimingsFrom(const Form& form) {
  const auto time = [&](const char* name) { return std::chrono::nanoseconds(IntegerIn<std::int64_t>(form, name)); };
  return {.policy = time("policy"),
          .approval = time("approval"),
          .obtain = time("obtain"),
          .run = time("run"),
          .finish = time("finish")};
}

Form WithheldToForm(const std::vector<core::WithheldFile>& files) {
  Form list = Form::array();
  for (const core::WithheldFile& file : files) list.push_back({{"path", file.path}, {"reason", file.reason}});
  return list;
}

void PutFiles(Form& form, const core::ExecutionResult& result) {
  Put(form, "created", result.files_created);
  Put(form, "changed", result.files_changed);
  Put(form, "deleted", result.files_deleted);
  if (!result.files_withheld.empty()) form["withheld"] = WithheldToForm(result.files_withheld);
  if (!result.files_to_review.empty()) form["to_review"] = WithheldToForm(result.files_to_review);
  if (result.files_total) {
    const core::FileTotals& total = *result.files_total;
    form["total"] = {total.created, total.changed, total.deleted, total.withheld, total.to_review};
  }
}

void TakeFiles(const Form& form, core::ExecutionResult& result) {
  result.files_created = TextsIn(form, "created");
  result.files_changed = TextsIn(form, "changed");
  result.files_deleted = TextsIn(form, "deleted");
  result.files_withheld = WithheldIn(form, "withheld");
  result.files_to_review = WithheldIn(form, "to_review");
  const Form& total = ListIn(form, "total");
  if (total.size() < 5) return;
  const auto at = [&](std::size_t index) { return Integer<std::size_t>(total[index]); };
  result.files_total = {.created = at(0), .changed = at(1), .deleted = at(2), .withheld = at(3), .to_review = at(4)};
}

Form LimitsToForm(const std::vector<core::LimitReached>& limits) {
  Form list = Form::array();
  for (const core::LimitReached& reached : limits)
    list.push_back({{"name", reached.name}, {"limit", reached.limit}, {"unit", reached.unit}});
  return list;
}

Form CellToForm(const core::CellDetails& cell) {
  Form form = {{"context", cell.context}, {"language", core::NameOf(cell.language)}, {"number", cell.number}};
  Form outputs = Form::array();
  for (const core::CellOutput& output : cell.outputs) {
    Form forms = Form::array();
    for (const core::RichData& data : output.forms) forms.push_back({data.mime, data.data});
    outputs.push_back({{"result", output.kind == core::CellOutput::Kind::kResult}, {"forms", std::move(forms)}});
  }
  form["outputs"] = std::move(outputs);
  Put(form, "outputs_left_out", cell.outputs_left_out);
  if (cell.error)
    form["error"] = {
        {"name", cell.error->name}, {"message", cell.error->message}, {"traceback", cell.error->traceback}};
  if (!cell.alive) form["dead"] = true;
  return form;
}

core::CellOutput OutputFrom(const Form& form) {
  core::CellOutput output{.kind = FlagIn(form, "result") ? core::CellOutput::Kind::kResult
                                                         : core::CellOutput::Kind::kDisplay};
  for (const Form& data : ListIn(form, "forms"))
    if (data.is_array() && data.size() == 2) output.forms.push_back({Text(data[0]), Text(data[1])});
  return output;
}

core::CellDetails CellFrom(const Form& form) {
  core::CellDetails cell{.context = TextIn(form, "context"),
                         .language = core::ParseLanguage(TextIn(form, "language")).value_or(core::Language::kPython),
                         .number = IntegerIn<std::uint64_t>(form, "number"),
                         .outputs_left_out = IntegerIn<std::size_t>(form, "outputs_left_out"),
                         .alive = !FlagIn(form, "dead")};
  for (const Form& output : ListIn(form, "outputs")) cell.outputs.push_back(OutputFrom(output));
  if (const Form& error = ObjectIn(form, "error"); !error.empty())
    cell.error = {
        .name = TextIn(error, "name"), .message = TextIn(error, "message"), .traceback = TextIn(error, "traceback")};
  return cell;
}

Form ResultToForm(const core::ExecutionResult& result) {
  Form form = {{"v", kVersion}, {"outcome", OutcomeToForm(result.outcome)}};
  Put(form, "id", result.execution_id);
  if (result.risk.assessed) form["risk"] = RiskToForm(result.risk);
  Put(form, "truncated", result.output_truncated);
  Put(form, "removed", result.output_removed);
  Put(form, "output_bytes", result.output_bytes);
  Put(form, "sandbox", result.sandbox_type);
  form["start"] = core::NameOf(result.start);
  Put(form, "time_ms", result.execution_time.count());
  form["timings"] = TimingsToForm(result.timings);
  Put(form, "memory_peak", result.memory_peak_bytes);
  PutFiles(form, result);
  Put(form, "diff", result.diff);
  Put(form, "approved_by", result.approved_by);
  Put(form, "digest", result.digest);
  if (!result.limits_reached.empty()) form["limits"] = LimitsToForm(result.limits_reached);
  Put(form, "degraded", result.degraded);
  if (result.cell) form["cell"] = CellToForm(*result.cell);
  return form;
}

core::ExecutionResult ResultFrom(const Form& form) {
  core::ExecutionResult result{.execution_id = TextIn(form, "id"),
                               .outcome = OutcomeFrom(ObjectIn(form, "outcome")),
                               .risk = RiskFrom(ObjectIn(form, "risk")),
                               .output_truncated = FlagIn(form, "truncated"),
                               .output_removed = FlagIn(form, "removed"),
                               .output_bytes = IntegerIn<std::uint64_t>(form, "output_bytes"),
                               .sandbox_type = TextIn(form, "sandbox"),
                               .start = core::ParseStartKind(TextIn(form, "start")).value_or(core::StartKind::kExec),
                               .execution_time = std::chrono::milliseconds(IntegerIn<std::int64_t>(form, "time_ms")),
                               .timings = TimingsFrom(ObjectIn(form, "timings")),
                               .memory_peak_bytes = IntegerIn<std::uint64_t>(form, "memory_peak"),
                               .diff = TextIn(form, "diff"),
                               .approved_by = TextIn(form, "approved_by"),
                               .digest = TextIn(form, "digest"),
                               .limits_reached = LimitsIn(form, "limits"),
                               .degraded = TextsIn(form, "degraded")};
  TakeFiles(form, result);
  if (const Form& cell = ObjectIn(form, "cell"); !cell.empty()) result.cell = CellFrom(cell);
  return result;
}

}  // namespace

std::string EncodeEnd(const core::RunEnd& end) {
  Form form = ResultToForm(end.result);
  if (end.error) form["error"] = {{"code", base::RowOf(end.error->code).name}, {"message", end.error->message}};
  return form.dump(-1, ' ', false, Form::error_handler_t::replace);
}

core::RunEnd DecodeEnd(core::RunState state, std::string_view text) {
  const Form form = Form::parse(text, nullptr, false);
  if (!form.is_object()) return {.state = state};
  if (!form.contains("v")) return DecodeEndV1(state, form);
  core::RunEnd end{.state = state, .result = ResultFrom(form)};
  if (const Form& error = ObjectIn(form, "error"); !error.empty())
    end.error = base::Error{CodeNamed(TextIn(error, "code")), TextIn(error, "message")};
  return end;
}

}  // namespace skerry::store
