#include "policy/git_routes.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "policy/git_config.hpp"

namespace skerry::policy {
namespace {

using Values = std::vector<std::optional<std::string>>;

constexpr std::string_view kThisRepository = ".";
constexpr std::string_view kUsualRemote = "origin";
constexpr std::string_view kPushDefault = "remote.pushdefault";

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// "remote.a.b.url" is section "remote", subsection "a.b" and name "url".
struct Key {
  explicit Key(std::string_view key) : section(key.substr(0, key.find('.'))), name(key.substr(key.rfind('.') + 1)) {
    const std::size_t both = section.size() + name.size() + 2;
    if (key.size() >= both) subsection = key.substr(section.size() + 1, key.size() - both);
  }
  std::string_view section;
  std::string_view subsection;
  std::string_view name;
};

// Whether a key leads git to another address by itself. Of a remote's keys all that are not known to mean something
// else.
bool IsRoute(const Key& key) {
  if (key.section == "remote")
    return !key.subsection.empty() &&
           !IsOneOf(key.name, {"prune", "prunetags", "tagopt", "skipdefaultupdate", "skipfetchall"});
  if (key.section == "submodule") return key.name == "url";
  if (key.section == "extensions") return key.name == "partialclone";
  return IsOneOf(key.section, {"remotes", "url", "include", "includeif"});
}

// Whether a key chooses among the routes.
bool IsChoice(std::string_view text) {
  const Key key(text);
  return text == kPushDefault || (key.section == "branch" && IsOneOf(key.name, {"remote", "pushremote", "merge"}));
}

class Routes {
 public:
  explicit Routes(const std::vector<GitConfigEntry>& entries) {
    for (const GitConfigEntry& entry : entries) {
      values_[entry.key].push_back(entry.value);
      const Key key(entry.key);
      if (key.section == "branch" && !key.subsection.empty()) branches_.emplace(key.subsection);
      if (key.section == "remote" && IsOneOf(key.name, {"url", "pushurl"})) remotes_.emplace(key.subsection);
    }
  }

  [[nodiscard]] const std::map<std::string, Values, std::less<>>& All() const { return values_; }
  [[nodiscard]] const std::set<std::string>& Branches() const { return branches_; }

  // The remotes that a branch uses.
  [[nodiscard]] std::string FetchedFrom(const std::string& branch) const {
    return Last(OfBranch(branch, "remote")).value_or(Usual());
  }
  [[nodiscard]] std::string PushedTo(const std::string& branch) const {
    if (auto own = Last(OfBranch(branch, "pushremote"))) return *own;
    if (auto common = Last(kPushDefault)) return *common;
    return FetchedFrom(branch);
  }
  [[nodiscard]] std::optional<std::string> MergedWith(const std::string& branch) const {
    return Last(OfBranch(branch, "merge"));
  }

  static std::string OfBranch(const std::string& branch, std::string_view name) {
    return "branch." + branch + "." + std::string(name);
  }
  // The last value of a key, which is the one that counts. Nothing where there is none.
  [[nodiscard]] std::optional<std::string> Last(std::string_view key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? std::nullopt : std::optional(found->second.back().value_or(""));
  }

 private:
  [[nodiscard]] std::string Usual() const {
    return remotes_.size() == 1 ? *remotes_.begin() : std::string(kUsualRemote);
  }

  std::map<std::string, Values, std::less<>> values_;
  std::set<std::string> branches_;
  std::set<std::string> remotes_;
};

class Comparison {
 public:
  Comparison(const Routes& now, const Routes& before) : now_(now), before_(before) {}

  void Values(const std::function<bool(const std::string&)>& counts) {
    for (const auto& [key, values] : now_.All()) {
      const auto old = before_.All().find(key);
      if (counts(key) && (old == before_.All().end() || old->second != values)) keys_.insert(key);
    }
    for (const auto& [key, values] : before_.All())
      if (counts(key) && !now_.All().contains(key)) keys_.insert(key);
  }

  void Branch(const std::string& branch) {
    const std::string fetched = now_.FetchedFrom(branch);
    const std::string pushed = now_.PushedTo(branch);
    if (fetched != before_.FetchedFrom(branch) && fetched != kThisRepository)
      keys_.insert(Routes::OfBranch(branch, "remote"));
    if (pushed != before_.PushedTo(branch) && pushed != kThisRepository) keys_.insert(PushKey(branch));
    const auto merged = before_.MergedWith(branch);
    if (merged && now_.MergedWith(branch).value_or(*merged) != *merged) keys_.insert(Routes::OfBranch(branch, "merge"));
  }

  // Branches that the configuration does not name.
  void OtherBranches() {
    if (now_.Last(kPushDefault) != before_.Last(kPushDefault) && now_.PushedTo("") != before_.PushedTo(""))
      keys_.emplace(kPushDefault);
  }

  [[nodiscard]] std::vector<std::string> Keys() const { return {keys_.begin(), keys_.end()}; }

 private:
  [[nodiscard]] std::string PushKey(const std::string& branch) const {
    for (const std::string& key : {Routes::OfBranch(branch, "pushremote"), std::string(kPushDefault)})
      if (now_.Last(key) != before_.Last(key)) return key;
    return Routes::OfBranch(branch, "remote");
  }

  const Routes& now_;
  const Routes& before_;
  std::set<std::string> keys_;
};

}  // namespace

std::vector<std::string> RedirectingKeys(std::string_view text, std::string_view before, ConfigPart part) {
  if (text == before) return {};
  const auto entries = ParseGitConfig(text);
  if (!entries) return {std::string(kNotUnderstood)};
  const Routes now(*entries);
  const Routes old(ParseGitConfig(before).value_or(std::vector<GitConfigEntry>()));
  Comparison comparison(now, old);
  comparison.Values([](const std::string& key) { return IsRoute(Key(key)); });
  if (part == ConfigPart::kBeside) {
    comparison.Values(IsChoice);
    return comparison.Keys();
  }
  std::set<std::string> branches = now.Branches();
  branches.insert(old.Branches().begin(), old.Branches().end());
  for (const std::string& branch : branches) comparison.Branch(branch);
  comparison.OtherBranches();
  return comparison.Keys();
}

}  // namespace skerry::policy
