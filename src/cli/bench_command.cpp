// skerry bench: how long Skerry takes, compared with others in the same run.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/baselines.hpp"
#include "bench/command_line_subjects.hpp"
#include "bench/compare.hpp"
#include "bench/daemon_subjects.hpp"
#include "bench/footprint.hpp"
#include "bench/monitor_subjects.hpp"
#include "bench/plot.hpp"
#include "bench/policy_subjects.hpp"
#include "bench/report.hpp"
#include "bench/soak.hpp"
#include "bench/stand.hpp"
#include "bench/workloads.hpp"
#include "bench/workspace_subjects.hpp"
#include "cli/command.hpp"
#include "cli/daemon_client.hpp"
#include "cli/signal_watch.hpp"
#include "cli/terminal.hpp"
#include "core/backend_registry.hpp"
#include "interpreters/interpreter.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(30);  // for the daemon
constexpr std::size_t kMostAnswer = 1U << 20U;

struct BenchOptions {
  bool json = false;
  bool idle = false;
  std::uint64_t soak = 0;
  std::size_t rounds = 100;
  std::vector<std::string> groups;
  std::vector<std::string> compare;
  std::string output;
  std::string plot;
};

// One line that is overwritten on a terminal; else nothing.
class ProgressLine {
 public:
  void Show(const std::string& text) const {
    if (terminal_) (void)!::write(STDERR_FILENO, ("\r\x1b[K" + text).c_str(), text.size() + 4);
  }
  ~ProgressLine() {
    if (terminal_) (void)!::write(STDERR_FILENO, "\r\x1b[K", 4);
  }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
};

base::Status Write(const std::string& path, const std::string& text) {
  const base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) return os::ErrnoErr("write " + path);
  return os::WriteAll(file.get(), text);
}

bool IsAsked(const BenchOptions& options, std::string_view group) {
  return options.groups.empty() ||
         std::ranges::any_of(options.groups, [&](const std::string& name) { return bench::IsGroupOf(group, name); });
}

// Kinds of groups: those that run programs, those that only read code, and of the first those about files of a
// workspace.
enum class Kind { kRuns, kReads, kFiles };
bool IsOf(std::string_view group, Kind kind) {
  if (kind == Kind::kFiles) return bench::IsGroupOf(group, "workspace");
  return bench::IsGroupOf(group, "policy") == (kind == Kind::kReads);
}
bool Asks(const BenchOptions& options, Kind kind) {
  return std::ranges::any_of(bench::Workloads(), [&](const bench::Workload& workload) {
    return IsAsked(options, workload.group) && IsOf(workload.group, kind);
  });
}

base::Result<bench::DaemonCalls> FindDaemon(const Context& context) {
  SKERRY_ASSIGN_OR_RETURN(DaemonClient found, DaemonClient::Find(context));
  const auto client = std::make_shared<DaemonClient>(std::move(found));
  return bench::DaemonCalls{
      .ask = [client](const std::string& method, const std::string& target,
                      const DaemonClient::Json& body) { return client->Ask(method, target, body); },
      .post = [client](const std::string& target, const std::string& body) -> base::Result<std::string> {
        SKERRY_ASSIGN_OR_RETURN(
            auto answer,
            client->Send(
                {.method = "POST", .target = target, .headers = {{"Content-Type", "application/json"}}, .body = body}));
        return answer.ReadAll(kMostAnswer, base::Deadline::After(kPatience));
      }};
}

// `stand` is nullptr when nothing is run.
base::Result<bench::Report> Measure(const Context& context, const BenchOptions& options, bench::Stand* stand,
                                    const std::stop_token& stop) {
  const bench::Interpreters interpreters = {.python = interpreters::FindInterpreter(core::Language::kPython),
                                            .node = interpreters::FindInterpreter(core::Language::kJavaScript),
                                            .shell = interpreters::FindInterpreter(core::Language::kShell)};
  bench::Baselines all;
  if (stand != nullptr) {
    all.subjects = stand->Subjects();
    if (const auto program = os::ReadLink(AT_FDCWD, "/proc/self/exe"); program)
      Append(all, {.subjects = bench::CommandLineSubjects(*program), .left_out = {}});
    Append(all, bench::FindDaemonSubjects(FindDaemon(context)));
    Append(all, bench::FindBaselines(interpreters));
  }
  if (Asks(options, Kind::kReads)) Append(all, bench::FindPolicySubjects(interpreters));
  if (stand != nullptr && Asks(options, Kind::kFiles))
    Append(all, bench::FindWorkspaceSubjects(std::filesystem::temp_directory_path().string(), &stand->native()));
  if (stand != nullptr && IsAsked(options, "monitor")) Append(all, bench::MonitorSubjects(stand->native()));
  bench::SettleTogether(all.subjects);
  std::vector<bench::Group> groups = bench::Grouped(all.subjects, all.left_out);
  std::erase_if(groups, [&](const bench::Group& group) { return !IsAsked(options, group.name); });
  const ProgressLine line;
  const auto results = bench::RunInterleaved(
      groups, {.rounds = options.rounds},
      [&](const bench::Progress& progress) {
        line.Show(progress.group + " " + std::to_string(progress.round) + "/" + std::to_string(progress.rounds));
      },
      stop);
  bench::Report report = bench::MakeReport(SKERRY_VERSION, bench::Surroundings::Look(), results);
  report.date = bench::UtcNow();
  return report;
}

base::Result<int> ShowComparison(const bench::Report& before, const bench::Report& after, const BenchOptions& options) {
  const bench::Comparison comparison = bench::Compare(before, after);
  Print(options.json ? bench::ToJson(comparison) + "\n" : bench::ToTable(comparison));
  return comparison.AnyWorse() ? 1 : 0;
}

base::Result<int> RunIdle(bench::Stand& stand) {
  SKERRY_ASSIGN_OR_RETURN(const auto footprints, bench::MeasureFootprints(stand));
  Print(bench::ToTable(footprints));
  return 0;
}

base::Result<int> RunSoak(const BenchOptions& options, bench::Stand& stand, const std::stop_token& stop) {
  const ProgressLine line;
  SKERRY_ASSIGN_OR_RETURN(
      const bench::SoakResult result,
      bench::Soak(
          stand, options.soak,
          [&](std::uint64_t run) { line.Show("run " + std::to_string(run) + "/" + std::to_string(options.soak)); },
          stop));
  Print(result.summary);
  if (!options.plot.empty()) SKERRY_RETURN_IF_ERROR(Write(options.plot, bench::LinePlot(result.plot)));
  return result.failures == 0 ? 0 : 1;
}

base::Result<std::unique_ptr<bench::Stand>> MakeStand(const Context& context) {
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context.LoadConfig());
  SKERRY_ASSIGN_OR_RETURN(auto registry, context.Backends(loaded.config.sandbox, Warmth::kWarm));
  return bench::Stand::Make(std::move(registry), {});
}

base::Result<int> Bench(const BenchOptions& options, const Context& context) {
  if (options.compare.size() == 2) {
    SKERRY_ASSIGN_OR_RETURN(const bench::Report before, bench::ReadReport(options.compare[0]));
    SKERRY_ASSIGN_OR_RETURN(const bench::Report after, bench::ReadReport(options.compare[1]));
    return ShowComparison(before, after, options);
  }
  std::optional<bench::Report> before;
  if (!options.compare.empty()) {
    SKERRY_ASSIGN_OR_RETURN(before, bench::ReadReport(options.compare[0]));
  }
  for (const std::string& group : options.groups)
    if (!std::ranges::any_of(bench::Workloads(), [&](const auto& row) { return bench::IsGroupOf(row.group, group); }))
      return base::Err(base::Code::kInvalidArgument, "there is no group " + group + "; see skerry bench --help");
  const SignalWatch signals;
  std::unique_ptr<bench::Stand> stand;
  if (options.idle || options.soak != 0 || Asks(options, Kind::kRuns)) {
    SKERRY_ASSIGN_OR_RETURN(stand, MakeStand(context));
  }
  if (options.idle) return RunIdle(*stand);
  if (options.soak != 0) return RunSoak(options, *stand, signals.token());
  SKERRY_ASSIGN_OR_RETURN(const bench::Report report, Measure(context, options, stand.get(), signals.token()));
  if (!options.output.empty()) SKERRY_RETURN_IF_ERROR(Write(options.output, bench::ToJson(report) + "\n"));
  if (!options.plot.empty()) SKERRY_RETURN_IF_ERROR(Write(options.plot, bench::BarPlot(report)));
  if (before) return ShowComparison(*before, report, options);
  Print(options.json ? bench::ToJson(report) + "\n" : bench::ToTable(report));
  return signals.signal() != 0 ? 128 + signals.signal() : 0;
}

std::vector<Option> OptionsInto(BenchOptions& options) {
  return {{.names = "--json", .description = "One object instead of a table", .to = &options.json},
          {.names = "--rounds",
           .value = Value::Text("N"),
           .description = "Runs of each subject (100); slow ones get fewer",
           .to = &options.rounds,
           .bounds = Range{.least = 1, .most = 100'000}},
          {.names = "--group",
           .value = Value::OneOf(
               "NAME", {"python", "pandas", "node", "shell", "cold", "hundred", "cell", "policy", "workspace"}),
           .description = "Only this one: python, pandas, node, shell, cold, hundred, cell, monitor, policy (six, as "
                          "policy-python-10k), workspace (three, as workspace-commit)",
           .to = &options.groups},
          {.names = "--output",
           .value = Value::File(),
           .description = "Keep the result as JSON in FILE",
           .to = &options.output},
          {.names = "--plot",
           .value = Value::File(),
           .description = "Draw the result as SVG into FILE",
           .to = &options.plot},
          {.names = "--compare",
           .value = Value::File("OLD.json [NEW.json]"),
           .description =
               "Compare a kept result with a new run, or two kept ones; fails when a target got worse by a quarter",
           .to = &options.compare,
           .following = Following::kUpToTwo},
          {.names = "--idle",
           .description = "Measure what waiting sandboxes cost instead: memory and CPU",
           .to = &options.idle},
          {.names = "--soak",
           .value = Value::Text("N"),
           .description = "Make N warm Python runs instead, and see whether anything grows",
           .to = &options.soak}};
}

}  // namespace

Command BenchCommand(const Context& context) {
  auto options = std::make_shared<BenchOptions>();
  return {
      .name = "bench",
      .description = "Measure Skerry beside what else this machine has, in one run",
      .footer =
          "Examples:\n"
          "  skerry bench\n"
          "  skerry bench --group python --rounds 1000 --output new.json --compare old.json\n"
          "  skerry bench --soak 10000 --plot soak.svg\n\n"
          "What is not installed (bwrap, docker, srt, ipykernel) is left out and named. docs/benchmarks.md says how to "
          "read it.",
      .options = OptionsInto(*options),
      .action = [=, &context] { return Bench(*options, context); }};
}

}  // namespace skerry::cli
