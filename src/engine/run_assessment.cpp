#include "engine/run_assessment.hpp"

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "engine/run_input.hpp"
#include "policy/report.hpp"

namespace skerry::engine {
namespace {

using policy::CodeReference;

constexpr std::size_t kLargestInput = std::size_t{4} << 20U;
// One assessment, piece by piece, until nothing new is met.
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
    // Where to look is known before anything is looked for.
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

  // What nobody can see before it runs is asked about as such.
  base::Status AddInput(const CodeReference& reference) {
    if (reference.is_typed && !run_.has_terminal) return {};
    if (!inputs_.emplace(reference.language).second) return {};
    const std::optional<std::string> text = TextOfInput(run_.input, kLargestInput);
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
