#include "bench/baselines.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "bench/candidate.hpp"
#include "bench/workloads.hpp"

namespace skerry::bench {
namespace {

// The interpreter and its option for code on the command line.
using Start = std::vector<std::string>;

struct Language {
  std::string_view group;
  Start start;  // empty when the interpreter is not installed
};

Start StartOf(const std::optional<std::string>& interpreter, const std::string& option) {
  return interpreter ? Start{*interpreter, option} : Start{};
}

std::vector<Language> LanguagesOf(const Interpreters& interpreters) {
  return {{"python", StartOf(interpreters.python, "-c")},
          {"pandas", StartOf(interpreters.python, "-c")},
          {"node", StartOf(interpreters.node, "-e")},
          {"shell", StartOf(interpreters.shell, "-c")}};
}

Command Plain(const Start& before, const Start& start, std::string_view code) {
  Command command{before, PlainEnvironment()};
  command.arguments.insert(command.arguments.end(), start.begin(), start.end());
  command.arguments.emplace_back(code);
  return command;
}

void AddBare(Baselines& baselines, const std::vector<Language>& languages) {
  for (const auto& [group, start] : languages) {
    if (start.empty())
      LeaveOut(baselines, "bare", {std::string(group)}, "the interpreter is not installed");
    else
      AddCandidate(baselines, {std::string(group), "bare", Plain({}, start, FindWorkload(group)->code)});
  }
  AddCandidate(baselines, {"shell", "bare sh", Plain({}, {"/bin/sh", "-c"}, FindWorkload("shell")->code)});
}

void AddBwrap(Baselines& baselines, const std::vector<Language>& languages) {
  const auto bwrap = FindProgram("bwrap");
  if (!bwrap)
    return LeaveOut(baselines, "bwrap", {"python", "pandas", "node", "shell", "cold"}, "bwrap: not installed");
  // The least that bwrap can do: the whole root read-only, no other mounts.
  const Start least = {*bwrap, "--unshare-all", "--ro-bind", "/", "/"};
  for (const auto& [group, start] : languages)
    if (!start.empty())
      AddCandidate(baselines, {std::string(group), "bwrap", Plain(least, start, FindWorkload(group)->code)});
  AddCandidate(baselines, {"cold", "bwrap", Plain(least, {}, "true")});
  Start full = least;
  for (const char* option : {"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"}) full.emplace_back(option);
  AddCandidate(baselines, {"cold", "bwrap full", Plain(full, {}, "true")});
}

void AddSrt(Baselines& baselines, const Interpreters& interpreters) {
  const auto srt = FindProgram("srt");
  if (!srt) return LeaveOut(baselines, "srt", {"python", "shell", "cold"}, "srt: not installed");
  const auto add = [&](const std::string& group, const std::string& code) {
    AddCandidate(baselines, {group, "srt", {{*srt, "-c", code}, CallersEnvironment()}});
  };
  if (interpreters.python) add("python", *interpreters.python + " -c 'print(1)'");
  add("shell", "echo 1");
  add("cold", "true");
}

}  // namespace

void AddCandidate(Baselines& baselines, const Candidate& candidate) {
  const std::string_view output = FindWorkload(candidate.group)->output;
  if (const auto tried = TimeCommand(candidate.command, output); !tried)
    return LeaveOut(baselines, candidate.name, {candidate.group}, tried.error().message);
  baselines.subjects.push_back(
      {.group = candidate.group,
       .name = candidate.name,
       .detail = CommandLine(candidate.command),
       .run = [command = candidate.command, output, keep = candidate.keep] { return TimeCommand(command, output); }});
}

void LeaveOut(Baselines& baselines, const std::string& name, const std::vector<std::string>& groups,
              const std::string& reason) {
  for (const std::string& group : groups) baselines.left_out.push_back({group, name, reason});
}

void Append(Baselines& all, Baselines more) {
  std::ranges::move(more.subjects, std::back_inserter(all.subjects));
  std::ranges::move(more.left_out, std::back_inserter(all.left_out));
}

Baselines FindBaselines(const Interpreters& interpreters) {
  Baselines baselines;
  const std::vector<Language> languages = LanguagesOf(interpreters);
  AddBare(baselines, languages);
  AddBwrap(baselines, languages);
  AddSrt(baselines, interpreters);
  AddDockerBaselines(baselines, interpreters);
  AddIpykernelBaseline(baselines, interpreters);
  return baselines;
}

}  // namespace skerry::bench
