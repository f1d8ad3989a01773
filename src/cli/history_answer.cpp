#include "cli/history_answer.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/answer.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

core::ExecutionRecord ExecutionFrom(const Json& object) {
  core::ExecutionRecord record{.id = TextIn(object, "id"),
                               .sequence = NumberIn(object, "sequence"),
                               .session = TextIn(object, "session"),
                               .kind = TextIn(object, "kind"),
                               .what = BytesIn(object, "what"),
                               .what_bytes = NumberIn(object, "what_bytes"),
                               .what_sha256 = TextIn(object, "what_sha256"),
                               .language = TextIn(object, "language"),
                               .by = TextIn(object, "by"),
                               .sandbox = TextIn(object, "sandbox"),
                               .risk = TextIn(object, "risk"),
                               .approval = TextIn(object, "approval"),
                               .caused_by = TextIn(object, "caused_by"),
                               .outcome = TextIn(object, "outcome"),
                               .exit_code = static_cast<int>(NumberIn(object, "exit_code")),
                               .reason = TextIn(object, "reason"),
                               .ended_at = TimeIn(object, "ended_at")};
  record.state = core::ParseExecutionState(TextIn(object, "state")).value_or(core::ExecutionState::kLost);
  record.started_at = TimeIn(object, "started_at").value_or(core::TimePoint());
  return record;
}

core::FileUse UseFrom(const Json& object) {
  return {.path = BytesIn(object, "path"),
          .how = core::ParseHow(TextIn(object, "how")).value_or(core::FileUse::How::kNamed),
          .sha256 = TextIn(object, "sha256")};
}

core::FileStep StepFrom(const Json& object) {
  core::FileStep step{.version = {.execution = TextIn(object, "execution"),
                                  .sequence = NumberIn(object, "sequence"),
                                  .at = TimeIn(object, "at").value_or(core::TimePoint()),
                                  .change = ChangeFrom(object)},
                      .execution = ExecutionFrom(ObjectIn(object, "made_by"))};
  for (const Json& source : ListIn(object, "from")) {
    core::FileSource from{.use = UseFrom(source)};
    if (const std::string execution = TextIn(source, "execution"); !execution.empty())
      from.made = core::FileVersion{.execution = execution};
    step.sources.push_back(std::move(from));
  }
  return step;
}

std::vector<core::FileStep> StepsFrom(const Json& array) {
  std::vector<core::FileStep> steps;
  for (const Json& object : array) steps.push_back(StepFrom(object));
  return steps;
}

// The answer names the execution of a source by id; people know it by its number.
void Number(std::vector<core::FileStep>& steps, const std::map<std::string, std::uint64_t>& numbers) {
  for (core::FileStep& step : steps)
    for (core::FileSource& source : step.sources)
      if (const auto found = source.made ? numbers.find(source.made->execution) : numbers.end(); found != numbers.end())
        source.made->sequence = found->second;
}

}  // namespace

core::HistoryEntry HistoryEntryFrom(const Json& object) {
  core::HistoryEntry entry{.execution = ExecutionFrom(object)};
  const Json& files = ObjectIn(object, "files");
  for (const auto action : {core::FileAction::kCreated, core::FileAction::kChanged, core::FileAction::kRemoved})
    for (const Json& file : ListIn(files, std::string(core::NameOf(action)).c_str())) {
      entry.changes.push_back(ChangeFrom(file));
      entry.changes.back().action = action;
    }
  entry.changes_total = NumberIn(object, "files_total");
  for (const Json& use : ListIn(object, "uses")) entry.uses.push_back(UseFrom(use));
  return entry;
}

core::FileHistory FileHistoryFrom(const Json& object) {
  core::FileHistory history{.path = BytesIn(object, "path"),
                            .versions = StepsFrom(ListIn(object, "versions")),
                            .origins = StepsFrom(ListIn(object, "origins")),
                            .cut = FlagIn(object, "origins_truncated")};
  std::map<std::string, std::uint64_t> numbers;
  for (const auto& steps : {history.versions, history.origins})
    for (const core::FileStep& step : steps) numbers[step.version.execution] = step.version.sequence;
  Number(history.versions, numbers);
  Number(history.origins, numbers);
  return history;
}

}  // namespace skerry::cli
