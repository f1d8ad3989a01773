#include <algorithm>
#include <string>
#include <utility>

#include "policy/shell_environment.hpp"
#include "policy/shell_paths.hpp"
#include "policy/shell_raw.hpp"
#include "policy/shell_rules.hpp"
#include "policy/shell_walk.hpp"

namespace skerry::policy {
namespace {

using Kind = ShellFlow::Kind;

}  // namespace

void ShellWalk::Run() {
  CollectVariables();
  if (tree_.has_errors()) ScanErrors();
  session_.directory = report_.directory();
  session_.places.clear();
  for (NodeId id = 0; tree_.Reaches(id); ++id) Visit(id);
}

void ShellWalk::ExpandWords(const std::vector<std::string_view>& words, ShellChoice& choice,
                            std::vector<std::string>& argv) {
  constexpr std::size_t kMemoryOfAWord = 64;
  HeldMemory memory(budget_);
  memory.Add(kMemoryOfAWord * words.size());
  for (const std::string_view word : words) {
    if (budget_.IsOver()) return;
    words_.Expand(word, choice, argv);
  }
}

ShellFlow ShellWalk::CurrentInput() const {
  if (frames_.empty()) return {};
  budget_.Spend(WorkOfCopying(frames_.back().input.text.size()));
  return frames_.back().input;
}

void ShellWalk::Visit(NodeId id) {
  Leave(id);
  if (!frames_.empty() && frames_.back().kind == ShellKind::kPipeline && tree_[id].named &&
      tree_[id].parent == frames_.back().node)
    StartStage();
  switch (KindOf(tree_, id)) {
    case ShellKind::kCommand:
      return VisitCommand(id);
    case ShellKind::kFileRedirect:
      return VisitRedirect(id);
    case ShellKind::kAssignment:
      return VisitAssignment(id);
    case ShellKind::kHereDocument:
      return VisitHereDocument(id);
    case ShellKind::kFunction:
      return VisitFunction(id);
    case ShellKind::kPipeline: {
      const NodeId parent = tree_[id].parent;
      const bool behind_document = parent != kNoNode && KindOf(tree_, parent) == ShellKind::kHereDocument;
      return Enter(id, behind_document ? last_output_ : CurrentInput());
    }
    case ShellKind::kSubshell:
      return Enter(id, CurrentInput());
    case ShellKind::kCommandSubstitution:
    case ShellKind::kProcessSubstitution:
      return VisitSubstitution(id);
    case ShellKind::kRedirected: {
      ShellFlow input = InputFrom(RedirectsOf(tree_, id));
      if (input.kind != Kind::kNone) Enter(id, std::move(input));
      return;
    }
    case ShellKind::kDeclaration:
      return VisitDeclaration(id);
    case ShellKind::kUnset:
      return report_.Add(kShellCommand, code_, tree_[id].begin, tree_[id].end);
    case ShellKind::kFor:
      if (const NodeId variable = tree_.FirstNamedChild(id); variable != kNoNode)
        JudgeValues(tree_.TextOf(variable), id);
      return;
    case ShellKind::kExpansion:
      return VisitDefault(id);
    case ShellKind::kArithmetic:
      return VisitArithmetic(id);
    case ShellKind::kRawString:
      return VisitRawString(id);
    case ShellKind::kWord:
    case ShellKind::kRegex:
    case ShellKind::kPattern:
    case ShellKind::kStringContent:
      return VisitText(id);
    default:
      return;
  }
}

// Analyses shell code that runs in the script's present directory.
void ShellWalk::Nest(std::string_view code, std::uint32_t place) {
  report_.Nest(core::Language::kShell, code, place, session_.directory);
}

// The shell finds substitutions in places where the parser does not look: "${x:-`here`}".
void ShellWalk::VisitText(NodeId id) {
  const std::string_view text = tree_.TextOf(id);
  if (!text.contains('`') && !text.contains("$(")) return;
  const bool in_string = KindOf(tree_, id) == ShellKind::kStringContent;
  for (const std::string_view inside : SubstitutionsIn(text, in_string ? SingleQuotes::kPlain : SingleQuotes::kHide))
    Nest(WithoutBacktickEscapes(inside), tree_[id].begin);
}

// In arithmetic the shell expands quoted text as well: [[ 'a[$(here)]' -eq 0 ]].
void ShellWalk::VisitRawString(NodeId id) {
  const std::string_view text = tree_.TextOf(id);
  const std::size_t tick = text.find("[`");
  const bool ticks = tick != std::string_view::npos && text.find("`]", tick + 2) != std::string_view::npos;
  const bool index = ticks || (text.contains("[$(") && text.contains(")]"));
  if (!index) return;
  for (const std::string_view inside : SubstitutionsIn(text, SingleQuotes::kPlain)) Nest(inside, tree_[id].begin);
}

void ShellWalk::Leave(NodeId id) {
  while (!frames_.empty() && frames_.back().end <= id) {
    const ShellKind kind = frames_.back().kind;
    memory_.Remove(frames_.back().bytes);
    if (kind != ShellKind::kPipeline && kind != ShellKind::kRedirected)
      session_.directory = std::move(frames_.back().directory);
    frames_.pop_back();
    if (kind != ShellKind::kFunction) continue;
    budget_.Spend(frames_.size() * kWorkOfAStep);
    const auto outer = std::ranges::find(frames_, ShellKind::kFunction, &ShellFrame::kind);
    words_.SetFunction(outer == frames_.end() ? std::string_view() : outer->function);
  }
}

void ShellWalk::Enter(NodeId id, ShellFlow input) {
  ShellFrame frame{.end = tree_[id].after, .node = id, .kind = KindOf(tree_, id), .directory = session_.directory};
  if (frame.kind == ShellKind::kPipeline) {
    frame.output = std::move(input);
  } else {
    frame.input = std::move(input);
  }
  frames_.push_back(std::move(frame));
  Weigh(frames_.back());
}

void ShellWalk::Weigh(ShellFrame& frame) {
  const std::size_t bytes = sizeof(frame) + frame.directory.size() + frame.input.text.size() + frame.output.text.size();
  memory_.Remove(std::exchange(frame.bytes, bytes));
  memory_.Add(bytes);
}

void ShellWalk::StartStage() {
  ShellFrame& frame = frames_.back();
  frame.input = std::move(frame.output);
  frame.output = {};
  Weigh(frame);
}

void ShellWalk::VisitCommand(NodeId id) {
  const NodeId name = tree_.FirstNamedChild(id);
  const NodeId inner = name == kNoNode ? kNoNode : tree_.FirstNamedChild(name);
  const bool arithmetic = inner != kNoNode && KindOf(tree_, inner) == ShellKind::kArithmetic;
  if (arithmetic && tree_.BeginsWith(inner, "((")) return;
  const ShellStatement statement = ReadStatement(tree_, id);
  ShellFlow input = InputFrom(statement.redirects);
  if (input.kind == Kind::kNone) input = CurrentInput();
  if (statement.words.size() == 1 && statement.words[0] == "exec") NoteDescriptors(statement.redirects);
  ShellFlow output;
  ShellChoice choice;
  std::vector<std::string> argv;
  for (choice.which = 0; choice.which < choice.count; ++choice.which) {
    argv.clear();
    ExpandWords(statement.words, choice, argv);
    if (budget_.IsOver()) return;
    if (argv.empty()) continue;
    if (IsForkBomb(id, argv[0])) report_.Add(kShellForkBomb, code_, tree_[id].begin, tree_[id].end);
    judge_.Judge(argv, input, tree_[id].begin, tree_.BeginningOf(id));
    if (runners_.contains(argv[0]))
      judge_.Judge(ShellArgv(argv).subspan(1), input, tree_[id].begin, tree_.BeginningOf(id));
    ShellFlow written = words_.OutputOfCommand(argv, input);
    NoteFiles(statement, argv, input, written);
    NoteRead(argv, input);
    NotePipeline(id, argv, input, written);
    output = choice.which == 0 ? std::move(written) : Concatenated(std::move(output), std::move(written));
    // Most commands are judged by their name only, so one choice is enough.
    const bool same_name = !statement.words[0].contains('$') && !statement.words[0].contains('`');
    if (same_name && frames_.empty() && statement.redirects.empty() && !CommandJudge::DependsOnArguments(argv[0]))
      break;
  }
  last_output_ = std::move(output);
}

void ShellWalk::VisitFunction(NodeId id) {
  const NodeId name = tree_.FirstNamedChild(id);
  Enter(id, {});
  if (name == kNoNode) return;
  frames_.back().function = tree_.TextOf(name);
  words_.SetFunction(tree_.TextOf(name));
  // A function that is defined under a condition may not exist when it is called.
  if (tree_[id].parent == 0) session_.functions.emplace(tree_.TextOf(name));
}

void ShellWalk::VisitSubstitution(NodeId id) {
  // Inside of backticks a backslash hides more backticks.
  const std::string_view text = tree_.BeginsWith(id, "`") ? tree_.TextOf(id) : std::string_view();
  if (text.size() > 1 && text.contains('\\'))
    Nest(WithoutBacktickEscapes(text.substr(1, text.size() - 2)), tree_[id].begin);
  Enter(id, tree_.BeginsWith(id, ">(") ? last_output_ : CurrentInput());
}

void ShellWalk::VisitHereDocument(NodeId id) {
  const ShellHereDocument document = ReadHereDocument(tree_, id);
  if (!document.quoted && document.body.contains('`'))
    for (const std::string_view inside : SubstitutionsIn(document.body, SingleQuotes::kPlain))
      Nest(WithoutBacktickEscapes(inside), PlaceOf(inside));
  if (document.rest.empty()) return;
  const std::uint32_t place = PlaceOf(document.rest);
  report_.AddText(kUnparsed, place, document.rest);
  Nest(document.rest, place);
}

void ShellWalk::VisitRedirect(NodeId id) {
  const ShellRedirect redirect = ReadRedirect(tree_, id);
  if (redirect.descriptor || redirect.target.empty()) return;
  if (redirect.target.starts_with(">(") || redirect.target.starts_with("<(")) return;
  ShellChoice choice;
  for (choice.which = 0; choice.which < choice.count; ++choice.which)
    JudgeTarget(words_.ExpandValue(redirect.target, choice), redirect, tree_[id].begin, tree_[id].end);
}

void ShellWalk::JudgeTarget(const std::string& target, const ShellRedirect& redirect, std::uint32_t begin,
                            std::uint32_t end) {
  const std::string path = PlainPath(target, session_.directory);
  if (IsSocket(path)) return report_.Add(kShellSocket, code_, begin, end);
  if (!redirect.writes || IsHarmlessDevice(path)) return;
  report_.Add(IsDevice(path) ? kShellDevice : kShellRedirect, code_, begin, end);
}

namespace {

// False when the budget did not suffice.
bool ReadByTree(std::string_view code, Report& report) {
  SyntaxTree tree = ParseShell(code, report.budget());
  if (!tree.complete()) return false;
  ShellWalk(code, std::move(tree), report).Run();
  return !report.budget().IsOver();
}

constexpr std::string_view kContinuation = "\\\n";

bool IsOfName(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool DividesName(std::string_view code) {
  for (std::size_t at = code.find(kContinuation); at != std::string_view::npos; at = code.find(kContinuation, at + 2)) {
    const char next = at + 2 < code.size() ? code[at + 2] : ' ';
    if (at > 0 && IsOfName(code[at - 1]) && (IsOfName(next) || next == '=' || next == '\\')) return true;
  }
  return false;
}

std::string WithLinesJoined(std::string_view code) {
  std::string joined;
  joined.reserve(code.size());
  for (std::size_t at = 0; at < code.size();) {
    const std::size_t end = std::min(code.find(kContinuation, at), code.size());
    joined += code.substr(at, end - at);
    at = end + kContinuation.size();
  }
  return joined;
}

void ReadByLetters(std::string_view code, Report& report) {
  constexpr std::size_t kShown = 80;
  report.Add(kNotAnalysed, code, 0, static_cast<std::uint32_t>(std::min(code.size(), kShown)));
  Budget& budget = report.budget();
  // The reserve is for the outermost code, which contains the letters of all nested code as well.
  const bool has_budget = !budget.IsOver() || (report.IsOutermost() && budget.OpenReserve());
  if (has_budget) ShellWalk(code, SyntaxTree(budget), report).ScanAll();
}

}  // namespace

void AnalyseShell(std::string_view code, Report& report) {
  if (code.find_first_not_of(" \t\r\n") == std::string_view::npos) return;
  // The shell joins lines inside of a name as well; the parser does not.
  if (DividesName(code)) report.Nest(core::Language::kShell, WithLinesJoined(code), 0);
  if (!code.contains('\0')) {
    if (!ReadByTree(code, report)) ReadByLetters(code, report);
    return;
  }
  // The shell ignores NUL bytes; the parser would stop at them.
  std::string plain(code);
  std::erase(plain, '\0');
  report.AddText(kUnparsed, static_cast<std::uint32_t>(code.find('\0')), code.substr(code.find('\0')));
  report.Nest(core::Language::kShell, plain, 0);
}

}  // namespace skerry::policy
