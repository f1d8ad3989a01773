#include <algorithm>

#include "policy/shell_paths.hpp"
#include "policy/shell_raw.hpp"
#include "policy/shell_rules.hpp"
#include "policy/shell_walk.hpp"

namespace skerry::policy {
namespace {

using Kind = ShellFlow::Kind;

constexpr int kMostDepth = 6;  // of substitutions
constexpr std::uint64_t kWorkOfAPlainCommand = 8 * kWorkOfALookup;

}  // namespace

// Reads the whole statements that have errors by their letters, each once.
void ShellWalk::ScanErrors() {
  std::uint32_t scanned = 0;
  bool first = true;
  for (NodeId id = 0; tree_.Reaches(id); ++id) {
    if (!tree_[id].error || (!first && tree_[id].begin < scanned)) continue;
    if (first) report_.Add(kUnparsed, code_, tree_[id].begin, tree_[id].end);
    first = false;
    NodeId top = id;
    while (tree_[top].parent != kNoNode && tree_[top].parent != 0) top = tree_.Parent(top);
    const std::size_t line_begin = code_.rfind('\n', tree_[top].begin);
    const std::size_t begin = line_begin == std::string_view::npos ? 0 : line_begin;
    const std::size_t end =
        std::min(code_.find('\n', std::min<std::size_t>(tree_[top].end, code_.size())), code_.size());
    ScanRaw(code_.substr(begin, end - begin), 0);
    scanned = static_cast<std::uint32_t>(end);
  }
}

void ShellWalk::ScanRaw(std::string_view text, int depth) {
  if (depth > kMostDepth) return report_.AddText(kNotAnalysed, PlaceOf(text), text);
  ShellFlow flow;
  budget_.Spend(2 * WorkOfReading(text.size()));
  ForEachRaw(text, [&](const RawCommand& command) {
    ShellFlow input = command.piped ? std::move(flow) : ShellFlow();
    ShellChoice choice;
    if (!command.here_document.empty()) input = {Kind::kText, std::string(command.here_document)};
    if (!command.here_string.empty()) input = {Kind::kText, words_.ExpandValue(command.here_string, choice)};
    std::vector<std::string> argv;
    ExpandWords(command.words, choice, argv);
    argv.erase(argv.begin(), std::ranges::find_if_not(argv, IsAssignment));
    const std::string_view shown = command.words.empty() ? text : command.words.front();
    if (!argv.empty()) judge_.Judge(argv, input, PlaceOf(shown), argv[0]);
    for (std::string_view target : command.targets) {
      // Where quotes do not match, the end of the word is a guess.
      target = target.substr(0, target.find_first_of("\"'()", 1));
      const auto begin = static_cast<std::uint32_t>(PlaceOf(target));
      if (target.find_first_not_of("0123456789-") == std::string_view::npos) continue;
      JudgeTarget(words_.ExpandValue(target, choice), {.writes = true}, begin,
                  begin + static_cast<std::uint32_t>(target.size()));
    }
    for (const std::string_view word : command.words)
      for (const std::string_view inside : SubstitutionsIn(word)) ScanRaw(inside, depth + 1);
    flow = argv.empty() ? ShellFlow() : OutputOf(argv, input);
    return budget_.Spend(kWorkOfAPlainCommand + WorkOf(argv));
  });
}

}  // namespace skerry::policy
