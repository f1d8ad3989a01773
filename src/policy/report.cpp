#include "policy/report.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/printable.hpp"
#include "base/utf8.hpp"

namespace skerry::policy {
namespace {

constexpr int kMostDepth = 6;
constexpr std::size_t kMostReferences = 1024;
constexpr std::size_t kLongestPath = 4096;
constexpr std::size_t kFreeNestedBytes = 1U << 20U;  // besides four times the size of the content

// Lines and columns of places that come in rising order.
class Locator {
 public:
  explicit Locator(std::string_view text) : text_(text) {}

  void Locate(std::uint32_t place, core::Finding& finding) {
    for (; at_ < place && at_ < text_.size(); ++at_) {
      const auto byte = static_cast<unsigned char>(text_[at_]);
      if (byte == '\n') {
        ++line_;
        column_ = 1;
      } else if ((byte & 0xC0U) != 0x80U) {
        ++column_;
      }
    }
    finding.line = line_;
    finding.column = column_;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t column_ = 1;
};

}  // namespace

bool IsBrowserName(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"selenium", "playwright", "puppeteer", "puppeteer-core", "pyppeteer", "browser", "screenshot", "webdriver"});
  return std::ranges::find(kNames, name) != kNames.end();
}

void Report::Add(const Rule& rule, std::string_view code, std::uint32_t begin, std::uint32_t end) {
  AddText(rule, begin, code.substr(begin, end - begin));
}

void Report::AddText(const Rule& rule, std::uint32_t begin, std::string_view words) {
  const std::uint32_t place = PlaceOf(begin);
  budget_.Spend(kWorkOfALookup);
  if (counts_[rule.id] >= kMostOfOneRule || !seen_.emplace(rule.id, place).second) return;
  ++counts_[rule.id];
  found_.push_back({rule, place, base::Excerpt(words)});
}

void Report::Nest(core::Language language, std::string_view code, std::uint32_t begin, std::string_view directory) {
  const bool too_much = nested_bytes_ + code.size() > 4 * text_.size() + kFreeNestedBytes;
  const bool has_budget = budget_.Spend(kWorkOfAPiece + WorkOfReading(code.size()));
  if (depth_ >= kMostDepth || too_much || !has_budget) return AddText(kNotAnalysed, begin, code);
  nested_bytes_ += code.size();
  HeldMemory memory(budget_);
  memory.Add(2 * code.size());  // the caller's copy, and what the analysis makes of it
  if (depth_ == 0) outer_place_ = begin;
  ++depth_;
  std::string outer_directory = directory_;
  if (!directory.empty()) directory_ = directory;
  switch (language) {
    case core::Language::kPython:
      AnalysePython(code, *this);
      break;
    case core::Language::kJavaScript:
      AnalyseJavaScript(code, *this);
      break;
    case core::Language::kShell:
      AnalyseShell(code, *this);
      break;
  }
  directory_ = std::move(outer_directory);
  --depth_;
}

void Report::Refer(CodeReference reference, std::uint32_t begin) {
  budget_.Spend(kWorkOfALookup + WorkOfCopying(reference.name.size()));
  if (reference.name.size() > kLongestPath) return;  // no file can have such a path
  if (reference.kind == CodeReference::Kind::kModule && reference.directory.empty()) reference.directory = directory_;
  if (references_.size() >= kMostReferences) return AddText(kNotAnalysed, begin, reference.name);
  references_.emplace(std::move(reference), PlaceOf(begin));
}

std::vector<CodeReference> Report::References() const {
  std::vector<CodeReference> references;
  for (const auto& [reference, place] : references_) {
    references.push_back(reference);
    const std::string_view before = text_.substr(0, place);
    references.back().line = 1 + static_cast<std::uint32_t>(std::ranges::count(before, '\n'));
  }
  std::ranges::sort(references, {}, [](const CodeReference& each) {
    return std::tuple(each.line, each.kind, std::string_view(each.name), each.language,
                      std::string_view(each.directory));
  });
  return references;
}

std::vector<core::Finding> Report::Findings() const {
  std::vector<Found> found = found_;
  std::ranges::sort(found, {}, [](const Found& each) { return std::tuple(each.place, each.rule.id); });
  Locator locator(text_);
  std::vector<core::Finding> findings;
  for (const Found& each : found) {
    core::Finding finding{.rule = std::string(each.rule.id),
                          .level = each.rule.level,
                          .reject = each.rule.verdict == Verdict::kReject,
                          .text = base::ToValidUtf8(each.words),
                          .explanation = std::string(each.rule.explanation)};
    locator.Locate(each.place, finding);
    findings.push_back(std::move(finding));
  }
  SortByGravity(findings);
  return findings;
}

void SortByGravity(std::vector<core::Finding>& findings) {
  // Bytes that are not UTF-8 have no column of their own, so that one rule can have two findings at one place.
  std::ranges::sort(findings, {}, [](const core::Finding& each) {
    return std::tuple(-static_cast<int>(each.level), !each.reject, each.line, each.column, std::string_view(each.rule),
                      std::string_view(each.text));
  });
}

}  // namespace skerry::policy
