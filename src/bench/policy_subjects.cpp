#include "bench/policy_subjects.hpp"

#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "bench/candidate.hpp"
#include "bench/command.hpp"
#include "bench/ordinary_code.hpp"
#include "bench/parser_process.hpp"
#include "bench/workloads.hpp"
#include "os/files.hpp"
#include "policy/risk_policy.hpp"

namespace skerry::bench {
namespace {

constexpr auto kSizes = {std::pair("10k", std::size_t{10'000}), std::pair("1m", std::size_t{1'000'000})};

using Parse = std::function<base::Result<Sample>(const std::string& path)>;

struct Parser {
  core::Language language;
  std::string program;  // for people
  base::Result<Parse> parse;
};

// The text of one group, in memory and as a file that other processes of this user can open.
struct Text {
  std::string group;
  core::Language language;
  std::string code;
  base::UniqueFd file;

  [[nodiscard]] std::string Path() const {
    return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file.get());
  }
};
using TextPointer = std::shared_ptr<const Text>;

// Fails when the assessment gave up, which would be quick.
base::Result<Sample> TimeAssessment(const policy::RiskPolicy& policy, const Text& text) {
  // One assessment ahead that is not timed: the baseline ran just before and filled the caches, and its own samples are
  // taken in a process that has parsed the same text before.
  (void)policy.Assess(text.language, text.code);
  const auto began = Clock::now();
  const core::RiskAssessment assessment = policy.Assess(text.language, text.code);
  const Duration total = Clock::now() - began;
  for (const core::Finding& finding : assessment.findings)
    if (finding.rule.starts_with("code."))
      return base::Err(base::Code::kExecutionFailed, "line " + std::to_string(finding.line) + ": " + finding.rule);
  return Sample{.total = total};
}

Parser Missing(core::Language language) {
  return {language, "", base::Err(base::Code::kUnavailable, "the interpreter is not installed")};
}

Parser LivingParser(core::Language language, std::string program, base::Result<ParserProcess> process) {
  if (!process) return {language, std::move(program), std::unexpected(std::move(process).error())};
  const auto kept = std::make_shared<ParserProcess>(std::move(*process));
  return {language, std::move(program), [kept](const std::string& path) { return kept->Parse(path); }};
}

std::vector<Parser> ParsersOf(const Interpreters& interpreters) {
  using enum core::Language;
  std::vector<Parser> parsers;
  const auto& [python, node, shell] = interpreters;
  parsers.push_back(python ? LivingParser(kPython, *python + ", ast.parse", ParserProcess::StartPython(*python))
                           : Missing(kPython));
  parsers.push_back(node ? LivingParser(kJavaScript, *node + ", new vm.Script", ParserProcess::StartNode(*node))
                         : Missing(kJavaScript));
  parsers.push_back(shell ? Parser{kShell, *shell + " -n FILE, with its start",
                                   [program = *shell](const std::string& path) {
                                     return TimeCommand({{program, "-n", path}, PlainEnvironment()}, "");
                                   }}
                          : Missing(kShell));
  return parsers;
}

void AddOurs(Baselines& baselines, const TextPointer& text) {
  baselines.subjects.push_back(
      {.group = text->group,
       .name = "skerry",
       .detail = "RiskPolicy::Assess, " + std::to_string(text->code.size()) + " bytes",
       .run = [text, policy = std::make_shared<policy::RiskPolicy>()] { return TimeAssessment(*policy, *text); }});
}

void AddTheirs(Baselines& baselines, const TextPointer& text, const Parser& parser) {
  const std::string name(FindWorkload(text->group)->baseline);
  const auto leave_out = [&](const base::Error& error) { LeaveOut(baselines, name, {text->group}, error.message); };
  if (!parser.parse) return leave_out(parser.parse.error());
  if (const auto tried = (*parser.parse)(text->Path()); !tried) return leave_out(tried.error());
  baselines.subjects.push_back(
      {.group = text->group, .name = name, .detail = parser.program, .run = [text, parse = *parser.parse] {
         return parse(text->Path());
       }});
}

}  // namespace

Baselines FindPolicySubjects(const Interpreters& interpreters) {
  Baselines baselines;
  for (const Parser& parser : ParsersOf(interpreters))
    for (const auto& [size, bytes] : kSizes) {
      const std::string group = "policy-" + std::string(core::NameOf(parser.language)) + "-" + size;
      std::string code = OrdinaryCode(parser.language, bytes);
      auto file = os::SealedMemory(code);
      if (!file) {
        LeaveOut(baselines, "skerry", {group}, file.error().message);
        continue;
      }
      const auto text = std::make_shared<Text>(group, parser.language, std::move(code), std::move(*file));
      AddOurs(baselines, text);
      AddTheirs(baselines, text, parser);
    }
  return baselines;
}

}  // namespace skerry::bench
