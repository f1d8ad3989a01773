#include "core/text_form.hpp"

#include <vector>

#include "base/utf8.hpp"

namespace skerry::core {
namespace {

bool StartsCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

std::string Cut(const std::string& text) {
  std::size_t characters = 0;
  std::size_t end = text.size();
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!StartsCharacter(text[at])) continue;
    if (++characters == kTextFormLimit + 1) end = at;
  }
  if (characters <= kTextFormLimit) return text;
  return text.substr(0, end) + "... (truncated, " + std::to_string(characters - kTextFormLimit) + " more chars)";
}

}  // namespace

std::string TextForm(const ExecutionResult& result) {
  std::vector<std::string> parts;
  if (!result.standard_output.empty()) parts.push_back(base::ToValidUtf8(result.standard_output));
  if (!result.standard_error.empty()) parts.push_back("STDERR:\n" + base::ToValidUtf8(result.standard_error));
  if (const std::string explanation = result.outcome.Explanation(); !explanation.empty()) parts.push_back(explanation);
  if (result.outcome.exit_code != 0) parts.push_back("Exit code: " + std::to_string(result.outcome.exit_code));
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty() && text.back() != '\n') text += '\n';
    text += part;
  }
  return text.empty() ? "(no output)" : Cut(text);
}

}  // namespace skerry::core
