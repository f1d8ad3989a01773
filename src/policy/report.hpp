// Report: what an analysis finds. There is one for the whole content: code inside of code reports to the same one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/execution.hpp"
#include "core/risk.hpp"
#include "policy/budget.hpp"
#include "policy/code_reference.hpp"
#include "policy/rule.hpp"

namespace skerry::policy {

// Names that an organisation adds to the tables.
struct ExtraNames {
  std::map<std::string, core::RiskLevel, std::less<>> commands;  // of the shell
  std::map<std::string, core::RiskLevel, std::less<>> modules;   // of Python and JavaScript
};

// How many places of one rule are kept, in one content and in all code that it runs.
inline constexpr std::size_t kMostOfOneRule = 50;

class Report {
 public:
  // `text` is the whole content, `extras` what its analysis has to know besides the tables, `budget` what the whole
  // analysis may take; all must outlive the report.
  Report(std::string_view text, const ExtraNames& extras, Budget& budget)
      : text_(text), extras_(extras), budget_(budget) {}

  [[nodiscard]] const ExtraNames& extras() const { return extras_; }
  [[nodiscard]] Budget& budget() { return budget_; }
  // The code that is being analysed is the whole, and not code in code.
  [[nodiscard]] bool IsOutermost() const { return depth_ == 0; }

  // Something at these bytes of the code that is being analysed. The texts of the rule must stay; of one rule only the
  // first fifty places are kept.
  void Add(const Rule& rule, std::string_view code, std::uint32_t begin, std::uint32_t end);
  // As Add, with words that differ from those that stand in the code.
  void AddText(const Rule& rule, std::uint32_t begin, std::string_view words);

  // Analyses code that the code being analysed would run, and that stands, or is made, at `begin` of it, within the
  // budget of the whole. Code that is nested too deeply, or adds up to too much, is kNotAnalysed. The nested code
  // begins in `directory`; "" for the directory of the code around it.
  void Nest(core::Language language, std::string_view code, std::uint32_t begin, std::string_view directory = {});
  // The directory in which the code that is being analysed begins; "" for that of the whole.
  [[nodiscard]] const std::string& directory() const { return directory_; }

  // Tells of code elsewhere that the code being analysed would run, at `begin` of it; the report finds the line. The
  // same reference told twice counts once; of too many the rest is kNotAnalysed.
  void Refer(CodeReference reference, std::uint32_t begin);
  [[nodiscard]] std::vector<CodeReference> References() const;

  // The code drives a browser (S1.4).
  void NeedBrowser() { needs_browser_ = true; }
  [[nodiscard]] bool needs_browser() const { return needs_browser_; }

  // By gravity, then by place.
  [[nodiscard]] std::vector<core::Finding> Findings() const;

 private:
  struct Found {
    Rule rule;
    std::uint32_t place;
    std::string words;
  };
  [[nodiscard]] std::uint32_t PlaceOf(std::uint32_t begin) const { return depth_ == 0 ? begin : outer_place_; }

  std::string_view text_;
  const ExtraNames& extras_;
  Budget& budget_;
  std::vector<Found> found_;
  std::map<CodeReference, std::uint32_t> references_;          // and where the first mention stands
  std::set<std::pair<std::string_view, std::uint32_t>> seen_;  // rule and place
  std::map<std::string_view, std::size_t> counts_;             // by rule
  int depth_ = 0;                                              // of code in code
  std::uint32_t outer_place_ = 0;                              // where the nested code stands in the whole
  std::string directory_;
  std::size_t nested_bytes_ = 0;
  bool needs_browser_ = false;
};

// By gravity, then by place; nothing is left to chance: what compares equal is the same.
void SortByGravity(std::vector<core::Finding>& findings);

// A module or a name that stands for the automation of a browser.
bool IsBrowserName(std::string_view name);

// The analyses of the languages. Each reports what it finds in `code`, within the report's budget. Code that cannot be
// read to its end within the budget is kNotAnalysed, and is searched for known names by its letters.
void AnalysePython(std::string_view code, Report& report);
void AnalyseJavaScript(std::string_view code, Report& report);
void AnalyseShell(std::string_view code, Report& report);

}  // namespace skerry::policy
