#include "policy/tokens.hpp"

namespace skerry::policy {
namespace {

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::size_t SkipBlanks(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  return at;
}

}  // namespace

void ReportTokens(std::string_view text, std::uint32_t begin, const TokenTable& table, Report& report) {
  report.budget().Spend(WorkOfReading(text.size()));
  const NameId own = table.names.Root(table.own);
  NameId name = kNoName;  // of the dotted words so far
  bool behind_dot = false;
  for (std::size_t at = 0; at < text.size();) {
    if (!IsWordByte(text[at])) {
      if (text[at] != ' ' && text[at] != '\t') behind_dot = text[at] == '.';
      ++at;
      continue;
    }
    const std::size_t first = at;
    while (at < text.size() && IsWordByte(text[at])) ++at;
    const std::string_view word = text.substr(first, at - first);
    if (behind_dot) {
      name = name == kNoName ? kNoName : table.names.Member(name, word);
    } else {
      name = table.names.Member(own, word);
      if (name == kNoName) name = table.names.Root(word);
    }
    behind_dot = false;
    const auto place = static_cast<std::uint32_t>(begin + first);
    for (const When when : {When::kUsed, When::kImported, When::kCalled})
      if (const Rule* rule = table.names.RuleFor(name, when); rule != nullptr && name != kNoName)
        report.AddText(*rule, place, word);
    if (const Rule* rule = table.names.RuleForWord(word, When::kMember)) report.AddText(*rule, place, word);
    const std::size_t next = SkipBlanks(text, at);
    if (next >= text.size() || text[next] != '(') continue;
    for (const When when : {When::kMethod, When::kFunction})
      if (const Rule* rule = table.names.RuleForWord(word, when)) report.AddText(*rule, place, word);
  }
}

}  // namespace skerry::policy
