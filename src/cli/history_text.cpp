#include "cli/history_text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "base/printable.hpp"
#include "cli/command_output.hpp"
#include "cli/table.hpp"

namespace skerry::cli {
namespace {

using core::ExecutionRecord;
using core::ExecutionState;
using core::FileAction;

constexpr std::size_t kShownChanges = 20;
constexpr std::string_view kIndent = "    ";

// "0644"
std::string Octal(std::uint32_t mode) {
  std::array<char, 16> text{};
  return {text.data(), static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%04o", mode))};
}

std::string_view SignOf(FileAction action) {
  switch (action) {
    case FileAction::kCreated:
      return "+ ";
    case FileAction::kChanged:
      return "~ ";
    case FileAction::kRemoved:
      return "- ";
  }
  return "  ";
}

std::string FirstLine(std::string_view text) {
  return PrintableLine(base::Excerpt(text.substr(0, text.find_first_of("\r\n"))));
}

// The first line of a message, with more room than code gets.
std::string Message(std::string_view text) {
  constexpr std::size_t kMost = 300;
  text = text.substr(0, text.find_first_of("\r\n"));
  return base::Printable(text.substr(0, kMost)) + (text.size() > kMost ? "…" : "");
}

// The first line that is not blank, and a mark when more follow.
std::string Beginning(const ExecutionRecord& execution) {
  std::string_view what = execution.what;
  what.remove_prefix(std::min(what.find_first_not_of(" \t\r\n"), what.size()));
  const std::size_t end = what.find_first_of("\r\n");
  const bool more = end != std::string_view::npos && what.find_first_not_of(" \t\r\n", end) != std::string_view::npos;
  if (what.empty()) return "";
  return std::string(kIndent) + FirstLine(what) + (more ? " [and more lines]" : "") + "\n";
}

// A change through the file tools has no exit code of its own.
std::string End(const ExecutionRecord& execution) {
  if (execution.state == ExecutionState::kRunning) return "running";
  if (execution.state == ExecutionState::kLost) return "lost";
  const std::string exit_code = "exit code " + std::to_string(execution.exit_code);
  if (execution.outcome == core::NameOf(core::OutcomeKind::kExited))
    return execution.language.empty() && execution.exit_code == 0 ? "done" : exit_code;
  std::string text = execution.outcome;
  std::ranges::replace(text, '_', ' ');
  return base::Printable(text) + ", " + exit_code;
}

std::string Title(const ExecutionRecord& execution) {
  std::string text = "#" + std::to_string(execution.sequence) + " " + Moment(execution.started_at) + " " +
                     base::Printable(execution.kind);
  if (!execution.language.empty()) text += " " + base::Printable(execution.language);
  if (!execution.by.empty()) text += " by " + base::Printable(execution.by);
  text += ": " + End(execution);
  if (execution.ended_at) text += ", " + DurationAsText(*execution.ended_at - execution.started_at);
  return text;
}

std::string Line(std::string_view name, const std::string& value) {
  return value.empty() ? "" : std::string(kIndent) + std::string(name) + Message(value) + "\n";
}

std::string StepAsText(const core::FileStep& step, const std::string& path) {
  const core::FileVersion& version = step.version;
  std::string text(SignOf(version.change.action));
  text += path + std::string(core::NameOf(version.change.action)) + " " + Moment(version.at);
  if (version.change.action != FileAction::kRemoved)
    text += ", " + std::to_string(version.change.size) + " bytes, mode " + Octal(version.change.mode) + ", sha256 " +
            base::Printable(version.change.sha256);
  text += "\n" + std::string(kIndent) + Title(step.execution) + "\n" + Beginning(step.execution);
  for (const core::FileSource& source : step.sources) {
    const std::string made = source.made ? "#" + std::to_string(source.made->sequence) : "nothing that is recorded";
    text += std::string(kIndent) + "from " + base::Printable(source.use.path) + " (" +
            std::string(core::NameOf(source.use.how)) + "), made by " + made + "\n";
  }
  return text;
}

}  // namespace

std::string DurationAsText(std::chrono::nanoseconds time) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  using std::chrono::minutes;
  using std::chrono::seconds;
  constexpr int kTenths = 100;  // milliseconds of one
  const auto whole = duration_cast<milliseconds>(time);
  if (whole < seconds(1)) return std::to_string(whole.count()) + " ms";
  const auto part = (whole % seconds(1)).count() / kTenths;
  if (whole < minutes(1))
    return std::to_string(duration_cast<seconds>(whole).count()) + "." + std::to_string(part) + " s";
  return std::to_string(duration_cast<minutes>(whole).count()) + " min " +
         std::to_string(duration_cast<seconds>(whole % minutes(1)).count()) + " s";
}

// The first changes, and how many more there are in all.
static std::string FirstChanges(const std::vector<core::FileChange>& changes, std::size_t total,
                                std::string_view indent) {
  std::string text;
  for (std::size_t i = 0; i < std::min(changes.size(), kShownChanges); ++i)
    text.append(indent).append(SignOf(changes[i].action)).append(base::Printable(changes[i].path)).append("\n");
  if (total > kShownChanges) text.append(indent).append("and " + std::to_string(total - kShownChanges) + " more\n");
  return text;
}

std::string ChangesAsText(const std::vector<core::FileChange>& changes, std::string_view indent) {
  return FirstChanges(changes, changes.size(), indent);
}

std::string EntryAsText(const core::HistoryEntry& entry, std::string_view cause) {
  const ExecutionRecord& execution = entry.execution;
  std::string text = Title(execution) + "\n" + Beginning(execution);
  text += Line("reason: ", execution.reason);
  text += Line("sandbox: ", execution.sandbox) + Line("risk: ", execution.risk);
  text += Line("approved by: ", execution.approval) + Line("caused by: ", std::string(cause));
  return text + FirstChanges(entry.changes, std::max<std::size_t>(entry.changes.size(), entry.changes_total), kIndent) +
         "\n";
}

std::string FileHistoryAsText(const core::FileHistory& history) {
  std::string text = base::Printable(history.path) + "\n";
  for (const core::FileStep& step : history.versions) text += StepAsText(step, "");
  if (!history.origins.empty()) text += "\nmade from:\n";
  for (const core::FileStep& step : history.origins)
    text += StepAsText(step, base::Printable(step.version.change.path) + " ");
  if (history.cut) text += "and more\n";
  return text;
}

}  // namespace skerry::cli
