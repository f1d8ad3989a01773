#include "policy/shell_words.hpp"

#include <algorithm>

#include "policy/shell_raw.hpp"
#include "policy/shell_word_reader.hpp"

namespace skerry::policy {
namespace {

constexpr int kMostDepth = 8;
constexpr std::size_t kMostFields = 64;

// Everything that is not simply itself.
constexpr std::string_view kSpecial("'\"\\$`{}~<>\x01\x05\x06\x07\x08\n", 16);

std::vector<std::string> SplitFields(std::string_view text) {
  std::vector<std::string> fields;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(kShellBreak), text.size());
    if (end > 0) fields.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return fields;
}

}  // namespace

void ShellVariables::Assign(std::string_view name, std::string value) {
  if (value.size() > kLongestValue) value.assign(1, kShellHole);
  auto found = values_.find(name);
  if (found == values_.end()) found = values_.emplace(std::string(name), std::vector<std::string>()).first;
  std::vector<std::string>& values = found->second;
  if (std::ranges::find(values, value) != values.end()) return;
  if (values.size() < kMostValues) {
    values.push_back(std::move(value));
  } else if (values.size() == kMostValues) {
    values.emplace_back(1, kShellHole);
  }
}

void ShellVariables::Append(std::string_view name, std::string_view value) {
  const std::vector<std::string>* before = Find(name);
  if (before == nullptr) return Assign(name, std::string(value));
  const std::vector<std::string> bases = *before;
  for (const std::string& base : bases) Assign(name, base + std::string(value));
}

const std::vector<std::string>* ShellVariables::Find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

bool ShellWords::Spend(std::size_t bytes) {
  if (bytes > work_) {
    work_ = 0;
    return false;
  }
  work_ -= bytes;
  return true;
}

void ShellWords::Expand(std::string_view word, ShellChoice& choice, std::vector<std::string>& fields) {
  if (word.find_first_of(kSpecial) == std::string_view::npos) return void(fields.emplace_back(word));
  if (!Spend(word.size())) return void(fields.emplace_back(1, kShellHole));
  WordReader reader(*this, variables_, choice);
  reader.ReadWord(word);
  std::vector<std::string> made;
  for (const std::string& text : ExpandBraces(reader.text(), kMostFields)) {
    std::vector<std::string> parts = SplitFields(text);
    if (parts.empty() && reader.has_quotes()) parts.emplace_back();
    std::ranges::move(parts, std::back_inserter(made));
  }
  std::ranges::move(made, std::back_inserter(fields));
}

std::string ShellWords::ExpandValue(std::string_view word, ShellChoice& choice) {
  if (word.find_first_of(kSpecial) == std::string_view::npos) return std::string(word);
  if (!Spend(word.size())) return std::string(1, kShellHole);
  WordReader reader(*this, variables_, choice);
  reader.ReadValue(word);
  return WithPlainBraces(reader.text());
}

std::string ShellWords::ExpandText(std::string_view text, ShellChoice& choice) {
  if (!Spend(text.size())) return std::string(1, kShellHole);
  WordReader reader(*this, variables_, choice);
  reader.ReadText(text);
  return reader.text();
}

ShellFlow ShellWords::FlowOf(std::string_view code) {
  if (depth_ >= kMostDepth || !Spend(code.size())) return {ShellFlow::Kind::kUnknown, ""};
  ++depth_;
  ShellFlow all;
  ShellFlow last;
  ShellChoice choice;
  for (const RawCommand& command : SplitRaw(code)) {
    std::vector<std::string> argv;
    for (const std::string_view word : command.words) Expand(word, choice, argv);
    const auto first = std::ranges::find_if_not(argv, IsAssignment);
    argv.erase(argv.begin(), first);
    if (!command.piped) all = Concatenated(std::move(all), std::move(last));
    ShellFlow input = command.piped ? std::move(last) : ShellFlow();
    if (!command.here_document.empty()) input = {ShellFlow::Kind::kText, std::string(command.here_document)};
    if (!command.here_string.empty()) input = {ShellFlow::Kind::kText, ExpandValue(command.here_string, choice)};
    last = argv.empty() ? ShellFlow() : OutputOf(argv, input);
  }
  --depth_;
  all = Concatenated(std::move(all), std::move(last));
  // More than one way to go, or nothing that is understood.
  if (all.kind == ShellFlow::Kind::kNone || (choice.count > 1 && all.kind == ShellFlow::Kind::kText))
    all = {ShellFlow::Kind::kUnknown, ""};
  return all;
}

}  // namespace skerry::policy
