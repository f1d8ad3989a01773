#include "policy/shell_words.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "policy/shell_raw.hpp"
#include "policy/shell_word_reader.hpp"

namespace skerry::policy {
namespace {

constexpr int kMostDepth = 8;
constexpr std::size_t kMostFields = 64;

// Characters that have a special meaning.
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
  constexpr std::size_t kMemoryOfAName = 128;
  budget_.Spend(kWorkOfALookup + longest_ + WorkOfCopying(name.size() + kMostValues * value.size()));
  if (value.size() > kLongestValue) value.assign(1, kShellHole);
  auto found = values_.find(name);
  if (found == values_.end()) {
    found = values_.emplace(std::string(name), std::vector<std::string>()).first;
    memory_.Add(kMemoryOfAName + name.size());
    longest_ = std::max(longest_, values_.bucket_size(values_.bucket(found->first)));
  }
  std::vector<std::string>& values = found->second;
  if (std::ranges::find(values, value) != values.end()) return;
  if (values.size() < kMostValues) {
    Keep(name, values, std::move(value));
  } else if (values.size() == kMostValues) {
    Keep(name, values, std::string(1, kShellHole));
  }
}

void ShellVariables::Keep(std::string_view name, std::vector<std::string>& values, std::string value) {
  if (name == "IFS")
    for (const char c : value) splitters_.set(static_cast<unsigned char>(c));
  memory_.Add(sizeof(std::string) + value.size());
  values.push_back(std::move(value));
}

void ShellVariables::Append(std::string_view name, std::string_view value) {
  const std::vector<std::string>* before = Find(name);
  if (before == nullptr) return Assign(name, std::string(value));
  // As many values as there is room for; then every part is added to the longest value only.
  const std::vector<std::string> bases = *before;
  budget_.Spend(WorkOfCopying(kMostValues * (kLongestValue + value.size())));
  const std::size_t from = 2 * bases.size() <= kMostValues ? 0 : std::min(bases.size(), kMostValues) - 1;
  for (std::size_t at = from; at < std::min(bases.size(), kMostValues); ++at) {
    std::string longer = bases[at] + std::string(value);
    if (longer.size() <= kLongestValue && bases.size() >= kMostValues) {
      for (const char c : name == "IFS" ? longer : std::string()) splitters_.set(static_cast<unsigned char>(c));
      memory_.Add(value.size());
      values_.find(name)->second[kMostValues - 1] = longer;
      longer.assign(1, kShellHole);
    }
    Assign(name, std::move(longer));
  }
}

const std::vector<std::string>* ShellVariables::Find(std::string_view name) const {
  budget_.Spend(kWorkOfALookup + longest_ + WorkOfCopying(name.size()));
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

std::string ShellVariables::AssignmentsFor(std::string_view code) const {
  constexpr std::size_t kLongest = 4096;
  std::set<std::string_view> names;
  std::string assignments;
  budget_.Spend(WorkOfReading(code.size()));
  for (std::size_t at = code.find('$'); at != std::string_view::npos; at = code.find('$', at + 1)) {
    std::string_view name = code.substr(at + 1);
    name.remove_prefix(std::min(name.find_first_not_of("{!#"), name.size()));
    name = name.substr(0, NameLength(name));
    budget_.Spend(2 * kWorkOfALookup);
    const std::vector<std::string>* values = Find(name);
    if (values == nullptr || name.starts_with('@') || !names.insert(name).second) continue;
    for (const std::string& value : *values)
      if (assignments.size() < kLongest) assignments.append(name).append("=").append(InQuotes(value)) += '\n';
  }
  return assignments;
}

std::string InQuotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted += "'\\'";
    quoted += c;
  }
  return quoted + '\'';
}

std::uint64_t WorkOf(ShellArgv argv) {
  constexpr std::uint64_t kWorkOfAWord = 8;
  std::uint64_t work = kWorkOfAWord;
  for (const std::string& word : argv) work += kWorkOfAWord + word.size() / 2;
  return work;
}

bool ShellWords::Spend(std::size_t bytes) {
  if (!budget_.Spend(kWorkOfALookup + 2 * WorkOfReading(bytes)) || bytes > work_) {
    work_ = 0;
    return false;
  }
  work_ -= bytes;
  return true;
}

void ShellWords::Expand(std::string_view word, ShellChoice& choice, std::vector<std::string>& fields) {
  budget_.Spend(WorkOfReading(word.size()));
  if (word.find_first_of(kSpecial) == std::string_view::npos) return void(fields.emplace_back(word));
  if (!Spend(word.size())) return void(fields.emplace_back(1, kShellHole));
  WordReader reader(*this, variables_, choice);
  reader.ReadWord(word);
  // Most words are one field.
  if (reader.text().find_first_of("\x05\x06\x07\x08") == std::string::npos) {
    if (!reader.text().empty() || reader.has_quotes()) fields.push_back(reader.text());
    return;
  }
  std::vector<std::string> made;
  for (const std::string& text : ExpandBraces(reader.text(), kMostFields, budget_)) {
    std::vector<std::string> parts = SplitFields(text);
    if (parts.empty() && reader.has_quotes()) parts.emplace_back();
    std::ranges::move(parts, std::back_inserter(made));
  }
  std::ranges::move(made, std::back_inserter(fields));
}

std::string ShellWords::ExpandValue(std::string_view word, ShellChoice& choice) {
  budget_.Spend(WorkOfReading(word.size()));
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

ShellFlow ShellWords::OutputOfCommand(ShellArgv argv, const ShellFlow& input) const {
  budget_.Spend(WorkOf(argv) + WorkOfCopying(input.text.size()));
  if (session_ != nullptr)
    if (const auto found = session_->outputs.find(argv[0]); found != session_->outputs.end()) return found->second;
  ShellFlow flow = OutputOf(argv, input);
  // With several files the most dangerous content counts.
  if (session_ == nullptr || flow.kind != ShellFlow::Kind::kUnknown) return flow;
  if (!HasShellTrait(BaseName(argv[0]), ShellTrait::kPassesOn)) return flow;
  budget_.Spend(argv.size() * (kWorkOfALookup + WorkOfReading(session_->directory.size())));
  for (const std::string& word : argv.subspan(1))
    flow.kind = std::max(flow.kind, ContentOf({ShellFlow::Kind::kFile, word}).kind);
  return flow;
}

// The content of a file that the script downloaded or decoded; otherwise the flow itself.
ShellFlow ShellWords::ContentOf(ShellFlow file) const {
  if (session_ == nullptr || file.kind != ShellFlow::Kind::kFile) return file;
  const auto found = session_->files.find(PlainPath(file.text, session_->directory));
  const bool known = found != session_->files.end() && found->second.kind > ShellFlow::Kind::kUnknown;
  return known ? found->second : file;
}

ShellFlow ShellWords::FlowOf(std::string_view code) {
  if (depth_ >= kMostDepth || !Spend(code.size())) return {ShellFlow::Kind::kUnknown, ""};
  ++depth_;
  ShellFlow all;
  ShellFlow last;
  ShellChoice choice;
  ForEachRaw(code, [&](const RawCommand& command) {
    std::vector<std::string> argv;
    for (const std::string_view word : command.words) Expand(word, choice, argv);
    const auto first = std::ranges::find_if_not(argv, IsAssignment);
    argv.erase(argv.begin(), first);
    if (!command.piped) all = Concatenated(std::move(all), std::exchange(last, {}));
    ShellFlow input = std::exchange(last, {});
    if (!command.here_document.empty()) input = {ShellFlow::Kind::kText, std::string(command.here_document)};
    if (!command.here_string.empty()) input = {ShellFlow::Kind::kText, ExpandValue(command.here_string, choice)};
    last = argv.empty() ? ShellFlow() : OutputOfCommand(argv, input);
    // $(<file)
    if (argv.empty() && command.targets.size() == 1)
      last = {ShellFlow::Kind::kFile, ExpandValue(command.targets[0], choice)};
    return budget_.Spend(kWorkOfANode);
  });
  --depth_;
  all = ContentOf(Concatenated(std::move(all), std::move(last)));
  // More than one choice, or nothing that was understood.
  if (all.kind == ShellFlow::Kind::kNone || (choice.count > 1 && all.kind == ShellFlow::Kind::kText))
    all = {ShellFlow::Kind::kUnknown, ""};
  return all;
}

}  // namespace skerry::policy
