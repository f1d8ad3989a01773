// The walk over the tree of a script: in the order of the text, without recursion. Frames remember what surrounds the
// node: pipelines, with what flows through them, and subshells, which have a current directory of their own.
#include <algorithm>

#include "policy/report.hpp"
#include "policy/shell_commands.hpp"
#include "policy/shell_paths.hpp"
#include "policy/shell_raw.hpp"
#include "policy/shell_rules.hpp"
#include "policy/shell_tree.hpp"
#include "policy/shell_words.hpp"

namespace skerry::policy {
namespace {

constexpr int kMostFrames = 16;   // that one command has a part in
constexpr int kMostRawDepth = 6;  // of substitutions, where the parser gave up
constexpr std::size_t kFreeWork = 1U << 20U;

using Kind = ShellFlow::Kind;

struct Frame {
  NodeId end = 0;
  NodeId node = kNoNode;
  ShellKind kind = ShellKind::kOther;
  ShellFlow input;            // of what is inside now
  ShellFlow output;           // of a pipeline's current stage
  bool has_shell = false;     // a pipeline: a shell reads from it
  std::string directory;      // to go back to
  std::string_view function;  // the name of the function whose body this is
};

class ShellWalk {
 public:
  ShellWalk(std::string_view code, Report& report)
      : code_(code),
        report_(report),
        tree_(ParseShell(code)),
        words_(variables_, 16 * code.size() + kFreeWork),
        judge_(session_, report) {}

  void Run();

 private:
  // shell_analysis.cpp
  void Visit(NodeId id);
  void VisitCommand(NodeId id);
  void VisitRedirect(NodeId id);
  void VisitAssignment(NodeId id);
  void VisitFunction(NodeId id);
  void VisitSubstitution(NodeId id);
  void VisitHereDocument(NodeId id);
  void JudgeTarget(const std::string& target, const ShellRedirect& redirect, std::uint32_t begin, std::uint32_t end);
  void JudgeWords(NodeId id, const std::vector<std::string_view>& words, const ShellFlow& input);
  void NotePipeline(NodeId id, const std::vector<std::string>& argv, const ShellFlow& output);
  void NoteFiles(const ShellStatement& statement, const std::vector<std::string>& argv, const ShellFlow& input,
                 const ShellFlow& output);
  void NoteFile(std::string_view path, const ShellFlow& content, const ShellRedirect* redirect);
  [[nodiscard]] bool IsForkBomb(NodeId id, std::string_view name) const;
  [[nodiscard]] bool RunsBeside(NodeId id, NodeId until) const;

  void Leave(NodeId id);
  void Enter(NodeId id, ShellFlow input);
  void StartStage(NodeId id);
  [[nodiscard]] ShellFlow CurrentInput() const { return frames_.empty() ? ShellFlow() : frames_.back().input; }
  ShellFlow InputFrom(const std::vector<NodeId>& redirects);

  void CollectVariables();
  void CollectAssignment(NodeId id);
  void CollectLoop(NodeId id);
  void CollectFromCommand(NodeId id);

  void ScanErrors();
  void ScanRaw(std::string_view text, int depth);
  [[nodiscard]] std::uint32_t PlaceOf(std::string_view part) const {
    const bool inside = part.data() >= code_.data() && part.data() <= code_.data() + code_.size();
    return inside ? static_cast<std::uint32_t>(part.data() - code_.data()) : raw_place_;
  }

  std::string_view code_;
  Report& report_;
  SyntaxTree tree_;
  ShellVariables variables_;
  ShellWords words_;
  ShellSession session_;
  CommandJudge judge_;
  std::vector<Frame> frames_;
  ShellFlow last_output_;        // of the last command
  std::uint32_t raw_place_ = 0;  // of text that was made
};

void ShellWalk::Run() {
  if (!tree_.complete()) {
    report_.Add(kNotAnalysed, code_, 0, static_cast<std::uint32_t>(std::min<std::size_t>(code_.size(), 80)));
    return ScanRaw(code_, 0);
  }
  CollectVariables();
  if (tree_.has_errors()) ScanErrors();
  session_.directory.clear();
  for (NodeId id = 0; id < tree_.size(); ++id) Visit(id);
}

void ShellWalk::Visit(NodeId id) {
  Leave(id);
  if (!frames_.empty() && frames_.back().kind == ShellKind::kPipeline && tree_[id].named &&
      tree_[id].parent == frames_.back().node)
    StartStage(id);
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
    case ShellKind::kUnset:
      return report_.Add(kShellCommand, code_, tree_[id].begin, tree_[id].end);
    default:
      return;
  }
}

void ShellWalk::Leave(NodeId id) {
  while (!frames_.empty() && frames_.back().end <= id) {
    const ShellKind kind = frames_.back().kind;
    if (kind != ShellKind::kPipeline && kind != ShellKind::kRedirected)
      session_.directory = std::move(frames_.back().directory);
    frames_.pop_back();
  }
}

void ShellWalk::Enter(NodeId id, ShellFlow input) {
  Frame frame{.end = tree_[id].after, .node = id, .kind = KindOf(tree_, id), .directory = session_.directory};
  if (frame.kind == ShellKind::kPipeline) {
    frame.output = std::move(input);
  } else {
    frame.input = std::move(input);
  }
  frames_.push_back(std::move(frame));
}

void ShellWalk::StartStage(NodeId) {
  Frame& frame = frames_.back();
  frame.input = std::move(frame.output);
  frame.output = {};
}

ShellFlow ShellWalk::InputFrom(const std::vector<NodeId>& redirects) {
  ShellFlow input;
  ShellChoice choice;
  for (const NodeId id : redirects) {
    const ShellKind kind = KindOf(tree_, id);
    if (kind == ShellKind::kHereDocument) {
      const ShellHereDocument document = ReadHereDocument(tree_, id);
      input = {Kind::kText, document.quoted ? std::string(document.body) : words_.ExpandText(document.body, choice)};
    } else if (kind == ShellKind::kHereString) {
      const NodeId word = tree_.FirstNamedChild(id);
      if (word != kNoNode) input = {Kind::kText, words_.ExpandValue(tree_.TextOf(word), choice)};
    } else {
      const ShellRedirect redirect = ReadRedirect(tree_, id);
      if (redirect.writes || redirect.descriptor) continue;
      const std::string path = words_.ExpandValue(redirect.target, choice);
      input = {Kind::kFile, path};
      if (path.contains(kShellNetwork)) input.kind = Kind::kNetwork;
      if (path.contains(kShellDecoded)) input.kind = Kind::kDecoded;
      if (path.starts_with("/dev/fd/") && path.contains(kShellHole)) input.kind = Kind::kUnknown;
    }
  }
  return input;
}

void ShellWalk::VisitCommand(NodeId id) {
  const NodeId name = tree_.FirstNamedChild(id);
  const NodeId inner = name == kNoNode ? kNoNode : tree_.FirstNamedChild(name);
  const bool arithmetic = inner != kNoNode && KindOf(tree_, inner) == ShellKind::kArithmetic;
  if (arithmetic && tree_.TextOf(inner).starts_with("((")) return;
  const ShellStatement statement = ReadStatement(tree_, id);
  ShellFlow input = InputFrom(statement.redirects);
  if (input.kind == Kind::kNone) input = CurrentInput();
  ShellFlow output;
  ShellChoice choice;
  std::vector<std::string> argv;
  for (choice.which = 0; choice.which < choice.count; ++choice.which) {
    argv.clear();
    for (const std::string_view word : statement.words) words_.Expand(word, choice, argv);
    if (argv.empty()) continue;
    if (IsForkBomb(id, argv[0])) report_.Add(kShellForkBomb, code_, tree_[id].begin, tree_[id].end);
    judge_.Judge(argv, input, tree_[id].begin, tree_.TextOf(id));
    ShellFlow written = OutputOf(argv, input);
    NoteFiles(statement, argv, input, written);
    NotePipeline(id, argv, written);
    if (choice.which == 0 || written.kind > output.kind) output = std::move(written);
  }
  last_output_ = std::move(output);
}

// What it writes goes to the pipelines around it.
void ShellWalk::NotePipeline(NodeId id, const std::vector<std::string>& argv, const ShellFlow& output) {
  const std::string_view name = BaseName(argv[0]);
  const ShellInterpreter* interpreter = ShellInterpreterOf(name);
  const bool is_shell = interpreter != nullptr && interpreter->language == core::Language::kShell &&
                        (argv.size() == 1 || HasOption(argv, "-i"));
  int count = 0;
  for (auto frame = frames_.rbegin(); frame != frames_.rend() && count < kMostFrames; ++frame, ++count) {
    if (frame->kind == ShellKind::kCommandSubstitution || frame->kind == ShellKind::kProcessSubstitution ||
        frame->kind == ShellKind::kFunction)
      return;
    if (frame->kind != ShellKind::kPipeline) continue;
    if (frame->has_shell && HasShellTrait(name, ShellTrait::kConnection))
      report_.Add(kShellReverseShell, code_, tree_[id].begin, tree_[id].end);
    frame->has_shell = frame->has_shell || is_shell;
    frame->output = Concatenated(std::move(frame->output), output);
  }
}

void ShellWalk::NoteFiles(const ShellStatement& statement, const std::vector<std::string>& argv, const ShellFlow& input,
                          const ShellFlow& output) {
  ShellChoice choice;
  for (const NodeId id : statement.redirects) {
    if (KindOf(tree_, id) != ShellKind::kFileRedirect) continue;
    const ShellRedirect redirect = ReadRedirect(tree_, id);
    if (!redirect.writes || redirect.descriptor) continue;
    NoteFile(words_.ExpandValue(redirect.target, choice), output, &redirect);
  }
  const std::string_view name = BaseName(argv[0]);
  if (name == "tee")
    for (std::size_t at = 1; at < argv.size(); ++at) NoteFile(argv[at], input, nullptr);
  // The copy is what the original is.
  if ((name == "cp" || name == "mv" || name == "install" || name == "ln") && argv.size() > 2) {
    const auto original = session_.files.find(PlainPath(argv[argv.size() - 2], session_.directory));
    if (original != session_.files.end()) NoteFile(argv.back(), ShellFlow(original->second), nullptr);
  }
}

void ShellWalk::NoteFile(std::string_view path, const ShellFlow& content, const ShellRedirect* redirect) {
  const bool known = content.kind == Kind::kText || content.kind == Kind::kNetwork || content.kind == Kind::kDecoded;
  if (path.starts_with('-') || path.starts_with("/dev/")) return;
  std::string plain = PlainPath(path, session_.directory);
  ShellFlow& file = session_.files[std::move(plain)];
  if (!known) {
    if (file.kind == Kind::kNone) file = {Kind::kFile, "-"};
    return;
  }
  // An earlier content may be what runs; it counts as well.
  const bool keeps = redirect != nullptr && (redirect->appends || file.kind > content.kind);
  if (keeps) {
    file = Concatenated(std::move(file), content);
  } else {
    file = content;
  }
}

bool ShellWalk::RunsBeside(NodeId id, NodeId until) const {
  for (int count = 0; id != until && id != kNoNode && count < 2 * kMostFrames; ++count) {
    const NodeId next = tree_.NextSibling(id);
    if (KindOf(tree_, id) == ShellKind::kPipeline) return true;
    if (next != kNoNode && KindOf(tree_, next) == ShellKind::kBackground) return true;
    id = tree_[id].parent;
  }
  return false;
}

bool ShellWalk::IsForkBomb(NodeId id, std::string_view name) const {
  const std::string_view text = tree_.TextOf(id);
  if (text.starts_with("$0") || text.starts_with("\"$0\"") || text.starts_with("./$0")) return RunsBeside(id, kNoNode);
  int count = 0;
  for (auto frame = frames_.rbegin(); frame != frames_.rend() && count < kMostFrames; ++frame, ++count)
    if (!frame->function.empty() && frame->function == name) return RunsBeside(id, frame->node);
  return false;
}

void ShellWalk::VisitFunction(NodeId id) {
  const NodeId name = tree_.FirstNamedChild(id);
  Enter(id, {});
  if (name == kNoNode) return;
  frames_.back().function = tree_.TextOf(name);
  // One that is defined under a condition may not be there when it is called.
  if (tree_[id].parent == 0) session_.functions.emplace(tree_.TextOf(name));
}

void ShellWalk::VisitSubstitution(NodeId id) {
  const std::string_view text = tree_.TextOf(id);
  // Inside of backticks a backslash hides more backticks.
  if (text.size() > 1 && text.starts_with('`') && text.contains('\\'))
    report_.Nest(core::Language::kShell, WithoutBacktickEscapes(text.substr(1, text.size() - 2)), tree_[id].begin);
  Enter(id, text.starts_with(">(") ? last_output_ : CurrentInput());
}

void ShellWalk::VisitHereDocument(NodeId id) {
  const ShellHereDocument document = ReadHereDocument(tree_, id);
  if (document.rest.empty()) return;
  const std::uint32_t place = PlaceOf(document.rest);
  report_.AddText(kUnparsed, place, document.rest);
  report_.Nest(core::Language::kShell, document.rest, place);
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

void ShellWalk::VisitAssignment(NodeId id) {
  const ShellAssignment assignment = ReadAssignment(tree_, id);
  if (const Rule* rule = RuleForVariable(assignment.name)) report_.Add(*rule, code_, tree_[id].begin, tree_[id].end);
  if (!HoldsCommand(assignment.name)) return;
  ShellChoice choice;
  const std::string value = words_.ExpandValue(assignment.value, choice);
  report_.Add(kShellNestedCode, code_, tree_[id].begin, tree_[id].end);
  report_.Nest(core::Language::kShell, value, tree_[id].begin);
}

void ShellWalk::CollectVariables() {
  for (NodeId id = 0; id < tree_.size(); ++id) {
    const ShellKind kind = KindOf(tree_, id);
    if (kind == ShellKind::kAssignment) CollectAssignment(id);
    if (kind == ShellKind::kFor) CollectLoop(id);
    if (kind == ShellKind::kCommandName) CollectFromCommand(id);
  }
}

void ShellWalk::CollectAssignment(NodeId id) {
  const ShellAssignment assignment = ReadAssignment(tree_, id);
  ShellChoice choice;
  for (choice.which = 0; choice.which < choice.count; ++choice.which) {
    std::string value;
    if (assignment.array) {
      std::vector<std::string> elements;
      for (const RawCommand& line : SplitRaw(assignment.value))
        for (const std::string_view word : line.words) words_.Expand(word, choice, elements);
      for (const std::string& element : elements) (value += value.empty() ? "" : "\x05") += element;
    } else {
      value = words_.ExpandValue(assignment.value, choice);
    }
    if (!assignment.appends) {
      variables_.Assign(assignment.name, std::move(value));
    } else {
      if (assignment.array) value.insert(0, 1, kShellBreak);
      variables_.Append(assignment.name, value);
    }
  }
}

void ShellWalk::CollectLoop(NodeId id) {
  const NodeId variable = tree_.FirstNamedChild(id);
  if (variable == kNoNode) return;
  bool any = false;
  for (NodeId child = tree_.NextNamedSibling(variable); child != kNoNode; child = tree_.NextNamedSibling(child)) {
    const ShellKind kind = KindOf(tree_, child);
    if (kind == ShellKind::kDoGroup || kind == ShellKind::kCompound || kind == ShellKind::kComment) continue;
    any = true;
    ShellChoice choice;
    for (choice.which = 0; choice.which < choice.count; ++choice.which) {
      std::vector<std::string> values;
      words_.Expand(tree_.TextOf(child), choice, values);
      for (std::string& value : values) variables_.Assign(tree_.TextOf(variable), std::move(value));
    }
  }
  if (!any) variables_.Assign(tree_.TextOf(variable), std::string(1, kShellHole));
}

// Commands that set variables.
void ShellWalk::CollectFromCommand(NodeId id) {
  const std::string_view name = tree_.TextOf(id);
  const bool reads =
      name == "read" || name == "mapfile" || name == "readarray" || name == "getopts" || name == "printf";
  if (!reads && name != "set") return;
  ShellChoice choice;
  std::vector<std::string> argv;
  for (const std::string_view word : ReadStatement(tree_, tree_[id].parent).words) words_.Expand(word, choice, argv);
  if (name == "set") {
    const auto dashes = std::ranges::find(argv, "--");
    std::string all;
    for (auto word = dashes; word != argv.end(); ++word)
      if (word != dashes) (all += all.empty() ? "" : "\x05") += *word;
    if (!all.empty()) variables_.Assign("@", std::move(all));
  } else if (name == "printf") {
    if (argv.size() < 3 || argv[1] != "-v") return;
    std::vector<std::string> printed = {"printf"};
    printed.insert(printed.end(), argv.begin() + 3, argv.end());
    const ShellFlow flow = OutputOf(printed, {});
    variables_.Assign(argv[2], flow.kind == Kind::kText ? flow.text : std::string(1, kShellHole));
  } else {
    for (std::size_t at = 1; at < argv.size(); ++at)
      if (!argv[at].starts_with('-')) variables_.Assign(argv[at], std::string(1, kShellHole));
  }
}

// The whole statements that have errors, once by their letters.
void ShellWalk::ScanErrors() {
  std::uint32_t scanned = 0;
  bool first = true;
  for (NodeId id = 0; id < tree_.size(); ++id) {
    if (!tree_[id].error || (!first && tree_[id].begin < scanned)) continue;
    if (first) report_.Add(kUnparsed, code_, tree_[id].begin, tree_[id].end);
    first = false;
    NodeId top = id;
    while (tree_[top].parent != kNoNode && tree_[top].parent != 0) top = tree_[top].parent;
    const std::size_t line_begin = code_.rfind('\n', tree_[top].begin);
    const std::size_t begin = line_begin == std::string_view::npos ? 0 : line_begin;
    const std::size_t end =
        std::min(code_.find('\n', std::min<std::size_t>(tree_[top].end, code_.size())), code_.size());
    ScanRaw(code_.substr(begin, end - begin), 0);
    scanned = static_cast<std::uint32_t>(end);
  }
}

void ShellWalk::ScanRaw(std::string_view text, int depth) {
  if (depth > kMostRawDepth) return report_.AddText(kNotAnalysed, PlaceOf(text), text);
  ShellFlow flow;
  for (const RawCommand& command : SplitRaw(text)) {
    ShellFlow input = command.piped ? std::move(flow) : ShellFlow();
    ShellChoice choice;
    if (!command.here_document.empty()) input = {Kind::kText, std::string(command.here_document)};
    if (!command.here_string.empty()) input = {Kind::kText, words_.ExpandValue(command.here_string, choice)};
    std::vector<std::string> argv;
    for (const std::string_view word : command.words) words_.Expand(word, choice, argv);
    argv.erase(argv.begin(), std::ranges::find_if_not(argv, IsAssignment));
    const std::string_view shown = command.words.empty() ? text : command.words.front();
    if (!argv.empty()) judge_.Judge(argv, input, PlaceOf(shown), argv[0]);
    for (const std::string_view target : command.targets) {
      const auto begin = static_cast<std::uint32_t>(PlaceOf(target));
      if (target.find_first_not_of("0123456789-") == std::string_view::npos) continue;
      JudgeTarget(words_.ExpandValue(target, choice), {.writes = true}, begin,
                  begin + static_cast<std::uint32_t>(target.size()));
    }
    for (const std::string_view word : command.words)
      for (const std::string_view inside : SubstitutionsIn(word)) ScanRaw(inside, depth + 1);
    flow = argv.empty() ? ShellFlow() : OutputOf(argv, input);
  }
}

}  // namespace

void AnalyseShell(std::string_view code, Report& report) {
  if (code.find_first_not_of(" \t\r\n") == std::string_view::npos) return;
  if (!code.contains('\0')) return ShellWalk(code, report).Run();
  // The shell leaves these out; the parser would stop.
  std::string plain(code);
  std::erase(plain, '\0');
  report.AddText(kUnparsed, static_cast<std::uint32_t>(code.find('\0')), code.substr(code.find('\0')));
  report.Nest(core::Language::kShell, plain, 0);
}

}  // namespace skerry::policy
