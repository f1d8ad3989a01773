#include "bench/ordinary_code.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace skerry::bench {
namespace {

constexpr auto kNouns = std::to_array<std::string_view>(
    {"account", "invoice",  "customer", "report",   "order",   "sensor",   "ticket", "image",   "payment", "message",
     "user",    "product",  "session",  "document", "record",  "schedule", "region", "vehicle", "package", "sample",
     "address", "contract", "balance",  "station",  "article", "request",  "metric", "branch",  "device"});
constexpr auto kVerbs = std::to_array<std::string_view>(
    {"collect", "merge", "update", "render", "validate", "convert", "group", "count", "measure", "prepare", "describe",
     "normalize", "publish", "archive", "compare", "select", "resolve", "summarize", "balance"});

// Random enough that words do not repeat in step, and the same on every machine.
class Dice {
 public:
  std::size_t Roll(std::size_t sides) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state_ >> 33U) % sides;
  }

 private:
  std::uint64_t state_ = 1;
};

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::string Written(std::string_view part, std::size_t index, Dice& dice) {
  const std::size_t noun = dice.Roll(kNouns.size());
  const std::size_t other = (noun + 1 + dice.Roll(kNouns.size() - 1)) % kNouns.size();
  std::string text(part);
  ReplaceAll(text, "__NOUN__", kNouns[noun]);
  ReplaceAll(text, "__OTHER__", kNouns[other]);
  ReplaceAll(text, "__VERB__", kVerbs[dice.Roll(kVerbs.size())]);
  ReplaceAll(text, "__NUMBER__", std::to_string(2 + dice.Roll(9998)));
  ReplaceAll(text, "__INDEX__", std::to_string(index));
  return text;
}

std::span<const std::string_view> PartsOf(core::Language language) {
  switch (language) {
    case core::Language::kPython:
      return PythonParts();
    case core::Language::kJavaScript:
      return JavaScriptParts();
    case core::Language::kShell:
      return ShellParts();
  }
  std::unreachable();
}

}  // namespace

std::string OrdinaryCode(core::Language language, std::size_t bytes) {
  const std::span<const std::string_view> parts = PartsOf(language);
  Dice dice;
  std::string code = Written(parts.front(), 0, dice);
  for (std::size_t index = 1;; ++index) {
    const std::string part = Written(parts[1 + (index - 1) % (parts.size() - 1)], index, dice);
    if (code.size() + part.size() > bytes) return code;
    code += part;
  }
}

}  // namespace skerry::bench
