#include "bench/command_line_subjects.hpp"

#include <utility>

#include "bench/command.hpp"
#include "bench/workloads.hpp"

namespace skerry::bench {
namespace {

Subject RunWith(const std::string& program, const std::string& group, const std::string& language) {
  const Workload* workload = FindWorkload(group);
  const Command command{{program, "run", "-l", language, std::string(workload->code)}, CallersEnvironment()};
  const std::string output(workload->output);
  return {.group = group,
          .name = "skerry run",
          .detail = CommandLine(command),
          .run = [command, output]() -> base::Result<Sample> { return TimeCommand(command, output); },
          .settle = {},
          .target = {}};
}

}  // namespace

std::vector<Subject> CommandLineSubjects(const std::string& program) {
  std::vector<Subject> subjects;
  for (const auto& [group, language] : {std::pair("python", "python"),
                                        {"pandas", "python"},
                                        {"node", "javascript"},
                                        {"shell", "shell"},
                                        {"cold", "shell"}})
    subjects.push_back(RunWith(program, group, language));
  return subjects;
}

}  // namespace skerry::bench
