#include "policy/names.hpp"

#include <algorithm>
#include <array>

namespace skerry::policy {
namespace {

// The part before the separator; `text` becomes the rest behind it.
std::string_view NextPart(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return part;
}

std::uint16_t BitOf(When when) {
  return static_cast<std::uint16_t>(1U << static_cast<unsigned>(when));
}

}  // namespace

Names::Names(std::span<const NameRow> rows) {
  for (const NameRow& row : rows) {
    if (!row.rule.explanation.empty()) rules_.push_back(&row.rule);
    for (std::string_view rest = row.paths; !rest.empty();) {
      const std::string_view path = NextPart(rest, ' ');
      if (path.empty()) continue;
      if (row.when == When::kMethod) {
        methods_.emplace(path, &row.rule);
      } else if (row.when == When::kMember) {
        mentions_.emplace(path, &row.rule);
      } else if (row.when == When::kFunction) {
        functions_.emplace(path, &row.rule);
      } else {
        const NameId id = Add(path);
        const NameId same = row.when == When::kSameAs ? Add(row.rule.id) : kNoName;
        entries_[id].same_as = same;
        entries_[id].whens |= BitOf(row.when);
        entries_[id].rules.emplace_back(row.when, &row.rule);
      }
    }
  }
  SpreadWildcards();
  MarkHolders();
}

// The rules of `*` also hold for a member that has a row of its own.
void Names::SpreadWildcards() {
  for (const auto& [key, id] : members_) {
    const auto wildcard = members_.find({key.parent, "*"});
    if (key.parent == kNoName || key.name == "()" || wildcard == members_.end() || wildcard->second == id) continue;
    const Entry& all = entries_[wildcard->second];
    entries_[id].whens |= all.whens;
    entries_[id].rules.insert(entries_[id].rules.end(), all.rules.begin(), all.rules.end());
  }
}

void Names::MarkHolders() {
  constexpr auto kGrave = std::to_array<When>(
      {When::kUsed, When::kCalled, When::kHandedOn, When::kRunsShell, When::kRunsArgv, When::kRunsCode});
  for (const auto& [key, id] : members_) {
    const NameId same = entries_[id].same_as;
    for (const auto& [when, rule] : entries_[same == kNoName ? id : same].rules) {
      const bool counts = rule->explanation.empty() || rule->level >= core::RiskLevel::kHigh;
      entries_[key.parent].holds_grave |= counts && std::ranges::find(kGrave, when) != kGrave.end();
    }
    entries_[id].holds_grave |= Has(id, When::kHandedOn);
  }
}

NameId Names::Add(std::string_view path) {
  NameId id = kNoName;
  while (!path.empty()) {
    const Key key{id, NextPart(path, '.')};
    const auto [found, is_new] = members_.try_emplace(key, static_cast<NameId>(entries_.size()));
    if (is_new) entries_.emplace_back();
    id = found->second;
  }
  return id;
}

NameId Names::Member(NameId parent, std::string_view name) const {
  auto found = members_.find({parent, name});
  // The result of a call is no member that a text could name.
  if (found == members_.end() && parent != kNoName && name != "()") found = members_.find({parent, "*"});
  if (found == members_.end()) return kNoName;
  const NameId same = entries_[found->second].same_as;
  return same == kNoName ? found->second : same;
}

bool Names::Has(NameId id, When when) const {
  return (entries_[id].whens & BitOf(when)) != 0;
}

const Rule* Names::RuleFor(NameId id, When when) const {
  if (!Has(id, when)) return nullptr;
  for (const auto& [rule_when, rule] : entries_[id].rules)
    if (rule_when == when) return rule;
  return nullptr;
}

const Rule* Names::RuleForWord(std::string_view word, When when) const {
  const auto& words = when == When::kMethod ? methods_ : when == When::kFunction ? functions_ : mentions_;
  const auto found = words.find(word);
  return found == words.end() ? nullptr : found->second;
}

}  // namespace skerry::policy
