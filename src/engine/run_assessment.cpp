#include "engine/run_assessment.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "engine/run_input.hpp"
#include "policy/report.hpp"
#include "workspace/beneath.hpp"

namespace skerry::engine {
namespace {

using policy::CodeReference;

constexpr std::size_t kLargestInput = std::size_t{4} << 20U;
constexpr std::string_view kBetween = "skerry-between-cells";  // a command that does not exist

bool HasRule(const core::RiskAssessment& risk, const policy::Rule& rule) {
  return std::ranges::find(risk.findings, rule.id, &core::Finding::rule) != risk.findings.end();
}

// One assessment, piece by piece, until nothing new is found.
class Assessing {
 public:
  Assessing(const Gate& gate, const AssessedRun& run, const AnalysisOwner& owner, const std::stop_token& stop)
      : gate_(gate),
        run_(run),
        owner_(owner),
        on_stop_(stop, [this] { cancel_.request_stop(); }),
        on_end_(gate.analyses() ? gate.analyses()->ending() : std::stop_token(), [this] { cancel_.request_stop(); }),
        local_(run.workspace, run.directory, run.environment, run.bytecode, cancel_.get_token()) {}

  base::Result<core::RiskAssessment> Run() {
    std::vector<CodeReference> references;
    SKERRY_ASSIGN_OR_RETURN(risk_, gate_.Assess(run_.language, run_.code, owner_, cancel_.get_token(), &references));
    SKERRY_RETURN_IF_ERROR(AddVariables());
    Queue(local_.FindStartFiles(run_.language));
    SKERRY_RETURN_IF_ERROR(Follow(references, local_.Begin()));
    if (!run_.before.empty()) SKERRY_RETURN_IF_ERROR(FollowAfter(run_.before, references));
    while (!pieces_.empty()) {
      const CodePiece piece = std::move(pieces_.front());
      pieces_.pop_front();
      SKERRY_RETURN_IF_ERROR(Add(piece));
    }
    return std::move(risk_);
  }

 private:
  void Queue(std::vector<CodePiece> pieces) {
    for (CodePiece& piece : pieces) pieces_.push_back(std::move(piece));
  }

  base::Status Follow(const std::vector<CodeReference>& references, const CodePlace& from) {
    // Search paths first: they decide where the other references are looked for.
    for (const CodeReference& reference : references)
      if (reference.kind == CodeReference::Kind::kSearchPath) Queue(local_.Find(reference, from));
    for (const CodeReference& reference : references) {
      if (reference.kind == CodeReference::Kind::kInput) SKERRY_RETURN_IF_ERROR(AddInput(reference));
      Queue(local_.Find(reference, from));
    }
    if (gate_.analyses()) gate_.analyses()->Charge(owner_, local_.budget().TakeSpent() * LookupBudget::kWorkOfAUnit);
    if (!local_.budget().IsCancelled()) return {};
    return base::Err(base::Code::kUnavailable, "nobody waits for the assessment any more");
  }

  // Follows the references that the code makes in the shell's state after `before`; `alone` are those that it makes by
  // itself. A reference counts at its first place, so references of `before` with a name of the code count as the
  // code's.
  base::Status FollowAfter(std::string_view before, const std::vector<CodeReference>& alone) {
    const std::string whole = std::string(before) + "\n" + std::string(kBetween) + "\n" + std::string(run_.code);
    const auto line = static_cast<std::uint32_t>(2 + std::ranges::count(before, '\n'));
    std::vector<CodeReference> all;
    SKERRY_ASSIGN_OR_RETURN(const core::RiskAssessment risk,
                            gate_.Assess(run_.language, whole, owner_, cancel_.get_token(), &all));
    // When `before` leaves a text, a here-document or a bracket open, the code is inside of it.
    const bool is_seen =
        std::ranges::any_of(all, [&](const CodeReference& each) { return each.line == line && each.name == kBetween; });
    const bool is_read = !HasRule(risk, policy::kNotAnalysed) &&
                         (!HasRule(risk, policy::kUnparsed) || HasRule(risk_, policy::kUnparsed));
    std::set<std::string_view> names;
    for (const CodeReference& each : alone) names.insert(workspace::NameOf(each.name));
    std::erase_if(all, [&](const CodeReference& each) {
      return each.line <= line && each.kind != CodeReference::Kind::kSearchPath &&
             !names.contains(workspace::NameOf(each.name));
    });
    if (!alone.empty() && !(is_seen && is_read)) gate_.policy().Note(risk_, policy::kTooMuchCode, "", "cells before");
    return Follow(all, local_.Begin());
  }

  base::Status Add(const CodePiece& piece) {
    const std::string source = base::Printable(piece.path);
    switch (piece.form) {
      case CodePiece::Form::kText:
        return AddCode(piece.language, piece.text, source, piece.place);
      case CodePiece::Form::kForeign:
        gate_.policy().Note(risk_, policy::kUnknownLanguage, source, source);
        break;
      case CodePiece::Form::kBinary:
        gate_.policy().Note(risk_, policy::kBinaryCode, source, source);
        break;
      case CodePiece::Form::kTooMuch:
        gate_.policy().Note(risk_, policy::kTooMuchCode, source, source);
        break;
    }
    return {};
  }

  base::Status AddCode(core::Language language, std::string_view code, const std::string& source,
                       const CodePlace& place) {
    std::vector<CodeReference> references;
    SKERRY_ASSIGN_OR_RETURN(core::RiskAssessment risk,
                            gate_.AssessFile(language, code, owner_, cancel_.get_token(), references));
    policy::RiskPolicy::Join(risk_, std::move(risk), source);
    return Follow(references, place);
  }

  // Input that is unknown before the run is a finding of its own.
  base::Status AddInput(const CodeReference& reference) {
    if (reference.is_typed && !run_.has_terminal) return {};
    if (!inputs_.emplace(reference.language).second) return {};
    const std::optional<std::string_view> text = TextOf(run_.input, kLargestInput);
    if (text && text->empty()) return {};
    if (!text) {
      gate_.policy().Note(risk_, policy::kFedCode, "", "input");
    } else if (reference.language) {
      return AddCode(*reference.language, *text, "input", local_.Begin());
    } else {
      gate_.policy().Note(risk_, policy::kUnknownLanguage, "", "input");
    }
    return {};
  }

  // The shell's rules know which variables make programs run code.
  base::Status AddVariables() {
    std::string assignments;
    for (const auto& [name, value] : run_.environment) assignments += name + "=" + core::ShellText({value}) + "\n";
    if (assignments.empty()) return {};
    return AddCode(core::Language::kShell, assignments, "variables", local_.Begin());
  }

  const Gate& gate_;
  const AssessedRun& run_;
  const AnalysisOwner& owner_;
  std::stop_source cancel_;  // by the caller, or at the end of the daemon
  std::stop_callback<std::function<void()>> on_stop_;
  std::stop_callback<std::function<void()>> on_end_;
  LocalCode local_;
  core::RiskAssessment risk_;
  std::deque<CodePiece> pieces_;
  std::set<std::optional<core::Language>> inputs_;
};

}  // namespace

base::Result<core::RiskAssessment> AssessRun(const Gate& gate, const AssessedRun& run, const AnalysisOwner& owner,
                                             const std::stop_token& stop) {
  return Assessing(gate, run, owner, stop).Run();
}

}  // namespace skerry::engine
