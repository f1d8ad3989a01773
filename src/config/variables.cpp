#include "config/variables.hpp"

#include <algorithm>
#include <utility>

#include "base/printable.hpp"
#include "base/utf8.hpp"
#include "config/check.hpp"

namespace skerry::config {
namespace {

constexpr std::string_view kSeparator = "__";
constexpr std::string_view kOlderSection = "SANDBOX__";

struct Variable {
  std::string_view name;
  std::string_view value;
};

Variable Split(std::string_view entry) {
  const auto equals = std::min(entry.find('='), entry.size());
  return {entry.substr(0, equals), entry.substr(std::min(equals + 1, entry.size()))};
}

bool IsOurs(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  return prefix == kOwnPrefix ? name.contains(kSeparator) : name.starts_with(kOlderSection);
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

base::Result<const Node*> Follow(const Node& root, std::string_view path, std::string_view separator) {
  const Node* node = &root;
  while (!path.empty()) {
    if (node->kind != Kind::kSection) return Refused(node->path, "a value, it has no key " + base::Excerpt(path));
    const auto end = std::min(path.find(separator), path.size());
    SKERRY_ASSIGN_OR_RETURN(node, ResolveKey(root, *node, path.substr(0, end)));
    path.remove_prefix(std::min(end + separator.size(), path.size()));
  }
  return node;
}

base::Result<std::pair<std::string, Setting>> ReadSetting(base::Result<const Node*> node, std::string_view value,
                                                          std::string origin) {
  if (!node) return Refused(origin, node.error().message);
  if (!base::IsValidUtf8(value)) return Refused(origin, (*node)->path + ": not valid UTF-8");
  base::Result<Json> read = ReadTypedText(**node, value);
  if (!read) return Refused(origin, read.error().message);
  return std::pair((*node)->path, Setting{std::move(*read), std::move(origin)});
}

}  // namespace

base::Result<Layer> ReadVariables(const Node& root, std::string_view prefix, std::span<const std::string> environment) {
  Layer layer;
  for (const std::string& entry : environment) {
    const auto [name, value] = Split(entry);
    if (!IsOurs(name, prefix)) continue;
    const std::string origin = "variable " + base::Excerpt(name);
    SKERRY_ASSIGN_OR_RETURN(
        auto setting, ReadSetting(Follow(root, LowerCase(name.substr(prefix.size())), kSeparator), value, origin));
    const auto [earlier, is_first] = layer.insert(setting);
    if (!is_first) return Refused(origin, setting.first + ": given twice, also by " + earlier->second.origin);
  }
  return layer;
}

base::Result<Layer> ReadOverrides(const Node& root, std::span<const Override> overrides) {
  Layer layer;
  for (const Override& override : overrides) {
    SKERRY_ASSIGN_OR_RETURN(auto setting,
                            ReadSetting(Follow(root, override.path, "."), override.value, "flag " + override.flag));
    layer.insert_or_assign(setting.first, std::move(setting.second));
  }
  return layer;
}

}  // namespace skerry::config
