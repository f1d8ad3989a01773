// The flows through pipelines, redirects and files, and programs that copy themselves.
#include <algorithm>

#include "policy/shell_paths.hpp"
#include "policy/shell_raw.hpp"
#include "policy/shell_rules.hpp"
#include "policy/shell_walk.hpp"

namespace skerry::policy {
namespace {

using Kind = ShellFlow::Kind;

constexpr int kMostFrames = 16;  // that one command is part of

}  // namespace

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
      if (redirect.writes) continue;
      // The parser knows no number in front of <<<.
      if (tree_.TextOf(id).contains("<<<")) {
        input = {Kind::kText, words_.ExpandValue(redirect.target, choice)};
        continue;
      }
      if (redirect.descriptor) {
        const auto opened = session_.descriptors.find(redirect.target);
        if (opened != session_.descriptors.end()) {
          input = opened->second;
        } else if (redirect.target != "0" && !redirect.target.empty()) {
          input = {Kind::kUnknown, ""};
        }
        continue;
      }
      const std::string path = words_.ExpandValue(redirect.target, choice);
      input = {Kind::kFile, path};
      if (path.contains(kShellNetwork)) input.kind = Kind::kNetwork;
      if (path.contains(kShellDecoded)) input.kind = Kind::kDecoded;
      if (path.starts_with("/dev/fd/") && path.contains(kShellHole)) input.kind = Kind::kUnknown;
    }
  }
  return input;
}

// `exec 3< file` opens a descriptor for the rest of the script.
void ShellWalk::NoteDescriptors(const std::vector<NodeId>& redirects) {
  for (const NodeId id : redirects) {
    const std::string_view text = tree_.TextOf(id);
    const std::string number(text.substr(0, text.find_first_not_of("0123456789")));
    ShellFlow input = InputFrom({id});
    session_.memory.Add(text.size() + input.text.size());
    if (!number.empty() && input.kind != Kind::kNone) session_.descriptors[number] = std::move(input);
  }
}

void ShellWalk::NoteRead(const std::vector<std::string>& argv, const ShellFlow& input) {
  const bool is_array = argv[0] == "mapfile" || argv[0] == "readarray";
  if (argv[0] != "read" && !is_array) return;
  std::string value;
  if (input.kind == Kind::kText) value = input.text.substr(0, input.text.find_last_not_of('\n') + 1);
  if (input.kind == Kind::kNetwork) value = std::string(1, kShellNetwork);
  if (input.kind == Kind::kDecoded) value = std::string(1, kShellDecoded);
  if (value.empty()) return;
  const std::size_t first = ReadArguments(argv, {.value_letters = is_array ? "dnOsuCc" : "dinNptu"}).first_operand;
  if (first >= argv.size()) return variables_.Assign(is_array ? "MAPFILE" : "REPLY", value);
  std::ranges::replace(value, '\n', is_array ? kShellBreak : ' ');
  // The last variable gets the rest.
  std::string_view rest = value;
  for (std::size_t at = first; at < argv.size(); ++at) {
    const std::size_t end = at + 1 < argv.size() ? rest.find(' ') : std::string::npos;
    variables_.Assign(argv[at], std::string(rest.substr(0, end)));
    if (end != std::string::npos) rest.remove_prefix(end + 1);
    if (!budget_.Spend(WorkOfCopying(rest.size()))) return;
  }
}

// The output of a command goes to the pipelines around it.
void ShellWalk::NotePipeline(NodeId id, const std::vector<std::string>& argv, const ShellFlow& input,
                             const ShellFlow& output) {
  const std::string_view name = BaseName(argv[0]);
  const ShellInterpreter* interpreter = ShellInterpreterOf(name);
  const bool is_shell = interpreter != nullptr && interpreter->language == core::Language::kShell &&
                        (argv.size() == 1 || HasOption(argv, "-i"));
  if (session_.readers.contains(argv[0]) && input.kind > Kind::kUnknown)
    report_.Add(kShellDownloadRun, code_, tree_[id].begin, tree_[id].end);
  int count = 0;
  for (auto frame = frames_.rbegin(); frame != frames_.rend() && count < kMostFrames; ++frame, ++count) {
    if (frame->kind == ShellKind::kFunction) {
      if (is_shell && input.kind == Kind::kNone) session_.readers.emplace(frame->function);
      if (output.kind > Kind::kUnknown) session_.outputs[std::string(frame->function)] = output;
      return;
    }
    if (frame->kind == ShellKind::kCommandSubstitution || frame->kind == ShellKind::kProcessSubstitution) return;
    if (frame->kind != ShellKind::kPipeline) continue;
    if (frame->has_shell && HasShellTrait(name, ShellTrait::kConnection))
      report_.Add(kShellReverseShell, code_, tree_[id].begin, tree_[id].end);
    frame->has_shell = frame->has_shell || is_shell;
    budget_.Spend(WorkOfCopying(output.text.size()));
    frame->output = Concatenated(std::move(frame->output), output);
    Weigh(*frame);
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
  // A copy has the content of the original.
  if ((name == "cp" || name == "mv" || name == "install" || name == "ln") && argv.size() > 2)
    for (std::size_t at = 1; at + 1 < argv.size() && !budget_.IsOver(); ++at)
      if (!argv[at].starts_with('-')) NoteCopy(argv[at], argv.back());
}

// `to` is the copy, or the directory that it lies in.
void ShellWalk::NoteCopy(const std::string& from, const std::string& to) {
  constexpr std::size_t kLongestPath = 4096;
  if (to.size() > kLongestPath || from.size() > kLongestPath) return;
  const std::string plain = PlainPath(from, session_.directory);
  const auto original = session_.files.find(plain);
  const ShellFlow content = original != session_.files.end() ? original->second : ShellFlow{Kind::kFile, plain};
  for (const std::string& copy : {to, to + "/" + std::string(BaseName(from))})
    if (PlainPath(copy, session_.directory) != plain) NoteFile(copy, content, nullptr);
}

void ShellWalk::NoteFile(std::string_view path, const ShellFlow& content, const ShellRedirect* redirect) {
  const bool is_copy = redirect == nullptr && content.kind == Kind::kFile && !IsStandardInput(content.text);
  const bool known =
      content.kind == Kind::kText || content.kind == Kind::kNetwork || content.kind == Kind::kDecoded || is_copy;
  const bool has_hole = path.find_first_of(std::string_view("\x01\x02\x03", 3)) != std::string_view::npos;
  if (has_hole || path.starts_with('-') || path.starts_with("/dev/")) return;
  std::string plain = PlainPath(path, session_.directory);
  constexpr std::size_t kMemoryOfAFile = 160;
  const std::size_t name = plain.size();
  const auto [entry, is_new] = session_.files.try_emplace(std::move(plain));
  if (is_new) session_.memory.Add(kMemoryOfAFile + name);
  ShellFlow& file = entry->second;
  budget_.Spend(kWorkOfALookup + WorkOfReading(path.size() + session_.directory.size()) +
                WorkOfCopying(content.text.size()));
  if (!known) {
    if (file.kind == Kind::kNone) file = {Kind::kFile, "-"};
    return;
  }
  // The earlier content of the file may be what runs, so it counts as well.
  const bool keeps = redirect != nullptr && (redirect->appends || file.kind > content.kind);
  const std::size_t before = file.text.size();
  if (keeps) {
    file = Concatenated(std::move(file), content);
  } else {
    file = content;
  }
  session_.memory.Add(file.text.size());
  session_.memory.Remove(before);
}

bool ShellWalk::RunsBeside(NodeId id, NodeId until) const {
  for (int count = 0; id != until && id != kNoNode && count < 2 * kMostFrames; ++count) {
    const NodeId next = tree_.NextSibling(id);
    if (KindOf(tree_, id) == ShellKind::kPipeline) return true;
    if (next != kNoNode && KindOf(tree_, next) == ShellKind::kBackground) return true;
    id = tree_.Parent(id);
  }
  return false;
}

bool ShellWalk::IsForkBomb(NodeId id, std::string_view name) const {
  const std::string_view text = tree_.BeginningOf(id);
  if (text.starts_with("$0") || text.starts_with("\"$0\"") || text.starts_with("./$0")) return RunsBeside(id, kNoNode);
  int count = 0;
  for (auto frame = frames_.rbegin(); frame != frames_.rend() && count < kMostFrames; ++frame, ++count)
    if (!frame->function.empty() && frame->function == name) return RunsBeside(id, frame->node);
  return false;
}

}  // namespace skerry::policy
