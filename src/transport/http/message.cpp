#include "transport/http/message.hpp"

#include <algorithm>

#include "base/utf8.hpp"
#include "transport/http/text.hpp"

namespace skerry::transport::http {
namespace {

int HexDigit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  const char lower = LowerOf(letter);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

enum class Plus { kItself, kSpace };

base::Result<std::string> Unescape(std::string_view text, Plus plus) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '+' && plus == Plus::kSpace) {
      plain += ' ';
    } else if (text[at] != '%') {
      plain += text[at];
    } else {
      const int high = at + 2 < text.size() ? HexDigit(text[at + 1]) : -1;
      const int low = at + 2 < text.size() ? HexDigit(text[at + 2]) : -1;
      if (high < 0 || low < 0) return base::Err(base::Code::kInvalidArgument, "a % is not followed by two digits");
      plain += static_cast<char>(high * 16 + low);
      at += 2;
    }
  }
  if (plain.contains('\0')) return base::Err(base::Code::kInvalidArgument, "a NUL byte in the address");
  return plain;
}

}  // namespace

void Headers::Set(const std::string& name, std::string value) {
  std::erase_if(fields_, [&](const auto& field) { return EqualsIgnoringCase(field.first, name); });
  fields_.emplace_back(name, std::move(value));
}

std::optional<std::string_view> Headers::Find(std::string_view name) const {
  const auto found = std::ranges::find_if(fields_, [&](const auto& f) { return EqualsIgnoringCase(f.first, name); });
  if (found == fields_.end()) return std::nullopt;
  return found->second;
}

std::size_t Headers::Count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(fields_, [&](const auto& f) { return EqualsIgnoringCase(f.first, name); }));
}

base::Result<std::vector<std::string>> SplitPath(std::string_view path) {
  if (!path.starts_with('/')) return base::Err(base::Code::kInvalidArgument, "a path begins with a slash");
  std::vector<std::string> segments;
  if (path == "/") return segments;
  for (std::string_view rest = path.substr(1);;) {
    const std::size_t slash = rest.find('/');
    SKERRY_ASSIGN_OR_RETURN(std::string segment, Unescape(rest.substr(0, slash), Plus::kItself));
    if (!base::IsValidUtf8(segment)) return base::Err(base::Code::kInvalidArgument, "the path is not UTF-8");
    if (segment.empty() || segment == "." || segment == "..")
      return base::Err(base::Code::kInvalidArgument, "a path has no empty segments, no \".\" and no \"..\"");
    segments.push_back(std::move(segment));
    if (slash == std::string_view::npos) return segments;
    rest.remove_prefix(slash + 1);
  }
}

std::vector<std::string> SplitAnyPath(std::string_view path) {
  std::vector<std::string> segments;
  while (!path.empty() && path != "/") {
    const std::size_t end = std::min(path.find('/', 1), path.size());
    auto segment = SplitPath(path.substr(0, end));
    segments.push_back(segment && !segment->empty() ? std::move(segment->front()) : "");
    path.remove_prefix(end);
  }
  if (path == "/" && !segments.empty()) segments.emplace_back();
  return segments;
}

base::Result<Query> Query::Parse(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view field = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (field.empty()) continue;
    const std::size_t equals = std::min(field.find('='), field.size());
    SKERRY_ASSIGN_OR_RETURN(std::string name, Unescape(field.substr(0, equals), Plus::kSpace));
    SKERRY_ASSIGN_OR_RETURN(std::string value,
                            Unescape(field.substr(std::min(equals + 1, field.size())), Plus::kSpace));
    if (!base::IsValidUtf8(name)) return base::Err(base::Code::kInvalidArgument, "the query is not UTF-8");
    if (query.Find(name)) return base::Err(base::Code::kInvalidArgument, "a query parameter is given twice");
    query.fields_.emplace_back(std::move(name), std::move(value));
  }
  return query;
}

std::optional<std::string> Query::Find(std::string_view name) const {
  const auto found = std::ranges::find(fields_, name, [](const auto& field) { return std::string_view(field.first); });
  if (found == fields_.end()) return std::nullopt;
  return found->second;
}

}  // namespace skerry::transport::http
