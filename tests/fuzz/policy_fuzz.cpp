// Code of any bytes, assessed by the risk policy. Compiled once for each language, which LANGUAGE names.
//
// The rules, whatever the code is: it is assessed in time; the answer follows from its findings, each of which has a
// place in the code and a short text that is safe for a terminal and for JSON; and a second assessment gives the same
// answer.
//
// Deep code, and code with more of something than a table has room for, is rare by chance: so the mutator repeats
// pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/utf8.hpp"
#include "core/risk.hpp"
#include "policy/risk_policy.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

namespace core = skerry::core;
namespace policy = skerry::policy;

// 80 bytes and an ellipsis; a byte that is no UTF-8 becomes three.
constexpr std::size_t kMostText = 3 * 80 + 3;

[[noreturn]] void Break(const std::string& rule) {
  std::fprintf(stderr, "broken: %s\n", rule.c_str());
  std::abort();
}

// The characters of each line; a byte that continues one does not count.
std::vector<std::uint32_t> WidthsOf(std::string_view code) {
  std::vector<std::uint32_t> widths = {0};
  for (const char each : code) {
    if (each == '\n')
      widths.push_back(0);
    else if ((static_cast<unsigned char>(each) & 0xC0U) != 0x80U)
      ++widths.back();
  }
  return widths;
}

void CheckFinding(const core::Finding& finding, const std::vector<std::uint32_t>& widths) {
  if (finding.rule.empty() || finding.explanation.empty()) Break("a finding has no name or no explanation");
  if (finding.level == core::RiskLevel::kSafe) Break(finding.rule + " is a finding and safe");
  if (finding.line < 1 || finding.line > widths.size()) Break(finding.rule + " is on a line that is not there");
  if (finding.column < 1 || finding.column > widths[finding.line - 1] + 1)
    Break(finding.rule + " is at a column that is not there");
  if (!skerry::base::IsValidUtf8(finding.text)) Break("the text of " + finding.rule + " is not UTF-8");
  if (finding.text.size() > kMostText) Break("the text of " + finding.rule + " is long");
}

auto OrderOf(const core::Finding& finding) {
  return std::tuple(-static_cast<int>(finding.level), !finding.reject, finding.line, finding.column, finding.rule);
}

auto PartsOf(const core::Finding& finding) {
  return std::tuple(OrderOf(finding), finding.text, finding.explanation);
}

void CheckConclusion(const core::RiskAssessment& assessment) {
  core::RiskLevel gravest = core::RiskLevel::kSafe;
  bool reject = false;
  for (const core::Finding& finding : assessment.findings) {
    gravest = std::max(gravest, finding.level);
    reject |= finding.reject;
  }
  if (assessment.level != gravest) Break("the level is not that of the gravest finding");
  if (reject != (assessment.suggested_sandbox == core::SuggestedSandbox::kReject))
    Break("refused without a finding that refuses, or not refused with one");
  if (assessment.requires_isolation != (gravest >= core::RiskLevel::kMedium)) Break("isolation is not from medium on");
  if (assessment.requires_confirmation != (reject || gravest >= core::RiskLevel::kHigh))
    Break("confirmation is not from high on");
  if (assessment.reason.empty() || assessment.reason.contains('\n')) Break("the reason is not one line");
  if (!assessment.lowerings.empty()) Break("something was lowered, and nobody asked for it");
}

core::RiskAssessment Assess(std::string_view code) {
  static const policy::RiskPolicy kPolicy;
  return kPolicy.Assess(core::Language::LANGUAGE, code);
}

void CheckSame(const core::RiskAssessment& one, const core::RiskAssessment& other) {
  if (one.level != other.level || one.reason != other.reason || one.suggested_sandbox != other.suggested_sandbox ||
      !std::ranges::equal(one.findings, other.findings, {}, PartsOf, PartsOf))
    Break("the same code was assessed differently");
}

// Repeats a piece of the input some hundred times in its place, as far as there is room.
std::size_t RepeatAPiece(std::uint8_t* data, std::size_t size, std::size_t max_size, std::minstd_rand& random) {
  const std::size_t begin = random() % size;
  const std::size_t length = std::min<std::size_t>(1 + random() % 24, size - begin);
  const std::size_t times = std::min<std::size_t>(random() % 1024, (max_size - size) / length);
  const std::string piece(reinterpret_cast<const char*>(data) + begin, length);
  std::memmove(data + begin + times * length, data + begin, size - begin);
  for (std::size_t i = 0; i < times; ++i) std::memcpy(data + begin + i * length, piece.data(), length);
  return size + times * length;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  std::minstd_rand random(seed);
  if (size > 0 && size < max_size && random() % 8 == 0) size = RepeatAPiece(data, size, max_size, random);
  return LLVMFuzzerMutate(data, size, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view code(reinterpret_cast<const char*>(data), size);
  const core::RiskAssessment assessment = Assess(code);
  const std::vector<std::uint32_t> widths = WidthsOf(code);
  for (const core::Finding& finding : assessment.findings) CheckFinding(finding, widths);
  if (!std::ranges::is_sorted(assessment.findings, {}, OrderOf)) Break("the findings are not sorted");
  CheckConclusion(assessment);
  CheckSame(assessment, Assess(code));
  return 0;
}
