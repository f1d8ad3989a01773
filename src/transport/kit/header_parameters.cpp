#include "transport/kit/header_parameters.hpp"

#include <algorithm>

#include "transport/http/text.hpp"

namespace skerry::transport::kit {
namespace {

std::unexpected<base::Error> Bad(const char* what) {
  return base::Err(base::Code::kInvalidArgument, what);
}

// `text` begins behind the opening quote, and afterwards behind the closing one.
base::Result<std::string> TakeQuoted(std::string_view& text) {
  std::string value;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool escapes = text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == '"' || text[at + 1] == '\\');
    if (escapes) {
      value += text[++at];
    } else if (text[at] == '"') {
      text.remove_prefix(at + 1);
      return value;
    } else {
      value += text[at];
    }
  }
  return Bad("a quote in a header does not end");
}

base::Result<std::string> TakeToken(std::string_view& text) {
  const std::size_t end = static_cast<std::size_t>(std::ranges::find_if_not(text, http::IsTokenLetter) - text.begin());
  if (end == 0) return Bad("a parameter of a header is no word");
  std::string token(text.substr(0, end));
  text.remove_prefix(end);
  return token;
}

}  // namespace

std::optional<std::string> ParameterizedValue::Find(std::string_view name) const {
  const auto found = std::ranges::find(parameters, name, [](const auto& each) { return std::string_view(each.first); });
  if (found == parameters.end()) return std::nullopt;
  return found->second;
}

base::Result<ParameterizedValue> ParseParameters(std::string_view text) {
  ParameterizedValue value;
  const std::size_t first = std::min(text.find(';'), text.size());
  value.word = http::Lower(http::Trim(text.substr(0, first)));
  text.remove_prefix(first);
  while (!(text = http::Trim(text)).empty()) {
    if (!text.starts_with(';')) return Bad("parameters of a header are not divided by semicolons");
    text = http::Trim(text.substr(1));
    if (text.empty()) return Bad("a header ends with a semicolon");
    SKERRY_ASSIGN_OR_RETURN(std::string name, TakeToken(text));
    name = http::Lower(name);
    if (!text.starts_with('=')) return Bad("a parameter of a header has no value");
    text.remove_prefix(1);
    const bool quoted = text.starts_with('"');
    if (quoted) text.remove_prefix(1);
    SKERRY_ASSIGN_OR_RETURN(std::string given, quoted ? TakeQuoted(text) : TakeToken(text));
    if (value.Find(name)) return Bad("a parameter of a header is given twice");
    value.parameters.emplace_back(std::move(name), std::move(given));
  }
  return value;
}

}  // namespace skerry::transport::kit
