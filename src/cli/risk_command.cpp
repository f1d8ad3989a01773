// skerry risk: the assessment of a piece of code, without running it.
#include <unistd.h>

#include <memory>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "base/sha256.hpp"
#include "cli/code_source.hpp"
#include "cli/command.hpp"
#include "cli/gate_options.hpp"
#include "cli/raw_terminal.hpp"
#include "cli/terminal.hpp"
#include "cli/tty.hpp"
#include "confirm/code_view.hpp"
#include "json/risk_json.hpp"
#include "json/text.hpp"
#include "policy/all_rules.hpp"
#include "policy/risk_policy.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

struct RiskOptions {
  std::optional<std::string> code;
  std::vector<std::string> files;
  std::optional<std::string> language;
  std::optional<std::string> fail_on;
  bool rules = false;
  bool json = false;
};

// One piece of content and its assessment.
struct Assessed {
  std::optional<std::string> file;
  std::string type;
  std::string content;
  core::RiskAssessment risk;
};

base::Result<Assessed> Assess(const RiskOptions& options, const CodeSource& source, const policy::RiskPolicy& policy) {
  Assessed assessed{.file = source.file};
  SKERRY_ASSIGN_OR_RETURN(assessed.content, ReadCode(source));
  assessed.type = options.language.value_or(std::string(core::NameOf(LanguageOfFile(source.file.value_or("")))));
  if (const auto known = core::ParseLanguage(assessed.type)) assessed.type = core::NameOf(*known);
  assessed.risk = policy.Assess(assessed.type, assessed.content);
  return assessed;
}

base::Result<std::vector<Assessed>> AssessAll(const RiskOptions& options, const policy::RiskPolicy& policy) {
  std::vector<Assessed> all;
  if (options.files.empty()) {
    SKERRY_ASSIGN_OR_RETURN(Assessed one, Assess(options, {.code = options.code}, policy));
    all.push_back(std::move(one));
  }
  for (const std::string& file : options.files) {
    SKERRY_ASSIGN_OR_RETURN(Assessed one, Assess(options, {.code = options.code, .file = file}, policy));
    all.push_back(std::move(one));
  }
  return all;
}

Json ToJson(const Assessed& assessed) {
  Json object = json::RiskToJson(assessed.risk);
  object["language"] = assessed.type;
  if (assessed.file) object["file"] = *assessed.file;
  object["sha256"] = base::Sha256Hex(assessed.content);
  return object;
}

std::string ConsequenceOf(const core::RiskAssessment& risk) {
  if (risk.suggested_sandbox == core::SuggestedSandbox::kReject) return "refused, even with --yes";
  std::string text = risk.requires_confirmation ? "a person is asked" : "nobody is asked";
  return text + "; suggested sandbox: " + std::string(core::NameOf(risk.suggested_sandbox));
}

std::string AsText(const Assessed& assessed, confirm::Colour colour) {
  const core::RiskAssessment& risk = assessed.risk;
  std::string text = assessed.file ? base::Printable(*assessed.file) + ": " : "";
  text += confirm::Coloured(core::NameOf(risk.level), risk.level, colour) + ": " + base::Printable(risk.reason) + "\n";
  for (const std::string& lowering : risk.lowerings) text += "  " + base::Printable(lowering) + "\n";
  text += "  " + ConsequenceOf(risk) + "\n";
  if (risk.findings.empty()) return text;
  const confirm::CodeViewOptions view{
      .colour = colour, .max_lines = 60, .width = static_cast<std::size_t>(RawTerminal::Size().columns)};
  return text + confirm::CodeView(assessed.content, risk.findings, view);
}

bool PrintRules(const RiskOptions& options) {
  Json rows = Json::array();
  std::string text;
  for (const policy::Rule& rule : policy::AllRules()) {
    const bool rejects = rule.verdict == policy::Verdict::kReject;
    rows.push_back({{"rule", rule.id},
                    {"level", core::NameOf(rule.level)},
                    {"reject", rejects},
                    {"explanation", rule.explanation}});
    std::string line(rule.id);
    line.resize(std::max<std::size_t>(line.size(), 30), ' ');
    line += " " + std::string(rejects ? "REJECT" : core::NameOf(rule.level));
    line.resize(std::max<std::size_t>(line.size(), 40), ' ');
    text += line + " " + std::string(rule.explanation) + "\n";
  }
  return Print(options.json ? json::IndentedText(rows) : text);
}

base::Result<int> Examine(const RiskOptions& options, const Context& context) {
  std::optional<core::RiskLevel> fail_on;
  if (options.fail_on) {
    SKERRY_ASSIGN_OR_RETURN(fail_on, core::ParseRiskLevel(*options.fail_on));
  }
  if (options.rules) return PrintRules(options) ? 0 : 1;
  SKERRY_ASSIGN_OR_RETURN(const config::Loaded loaded, context.LoadConfig());
  SKERRY_ASSIGN_OR_RETURN(policy::PolicyOptions policy_options, PolicyOptionsOf(loaded.config.sandbox));
  const policy::RiskPolicy policy(std::move(policy_options));
  SKERRY_ASSIGN_OR_RETURN(const std::vector<Assessed> all, AssessAll(options, policy));
  Json objects = Json::array();
  std::string text;
  bool failed = false;
  for (const Assessed& each : all) {
    if (options.json) objects.push_back(ToJson(each));
    if (!options.json) text += AsText(each, ColoursFor(STDOUT_FILENO));
    failed |= fail_on && each.risk.level >= *fail_on;
  }
  if (options.json) text = json::Text(all.size() == 1 ? objects.front() : objects) + "\n";
  if (!Print(text)) return base::Err(base::Code::kInternal, "cannot write the assessment to stdout");
  return failed ? 1 : 0;
}

}  // namespace

Command RiskCommand(const Context& context) {
  auto options = std::make_shared<RiskOptions>();
  return {.name = "risk",
          .description = "Say how risky a piece of code is, and why; nothing is run",
          .footer =
              "Examples:\n"
              "  skerry risk 'import os; os.system(\"ls\")'\n"
              "  skerry risk --language shell 'curl https://example.com/x.sh | sh'\n"
              "  skerry risk --fail-on high -f tools/*.py        # in a pre-commit hook\n"
              "  echo 'eval(x)' | skerry risk --json -\n\n"
              "Exit codes: 0, or 1 with --fail-on; 125 when the code cannot be read.",
          .arguments = {{.name = "code",
                         .value = Value::Text("CODE|-"),
                         .description = "The code, or - to read it from stdin",
                         .to = &options->code}},
          .options = {{.names = "-f,--file",
                       .value = Value::File("FILE..."),
                       .description = "Read the code from FILE; its extension tells the language; several may be given",
                       .to = &options->files,
                       .following = Following::kAny},
                      {.names = "-l,--language",
                       .value = Value::OneOf("LANGUAGE", {"python", "javascript", "shell", "browser"}),
                       .description = "python (default), javascript, shell or browser",
                       .to = &options->language},
                      {.names = "--fail-on",
                       .value = Value::OneOf("LEVEL", {"safe", "low", "medium", "high", "critical"}),
                       .description = "Exit with 1 from this level on: safe, low, medium, high or critical",
                       .to = &options->fail_on},
                      {.names = "--rules", .description = "List every rule with its level", .to = &options->rules},
                      {.names = "--json",
                       .description = "As an object, or as a list of them for several files",
                       .to = &options->json}},
          .action = [=, &context] { return Examine(*options, context); }};
}

}  // namespace skerry::cli
