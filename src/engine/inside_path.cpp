#include "engine/inside_path.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "workspace/beneath.hpp"

namespace skerry::engine {
namespace {

constexpr std::string_view kInside = "/workspace/";
constexpr int kMostLinks = 8;

// The first part of the path that is a link out of the workspace by our reckoning, put together with what it leads to
// inside. "" where there is none.
std::string Redirected(int workspace, const std::string& path) {
  for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    std::array<char, 4096> target{};
    const ssize_t size = ::readlinkat(workspace, part.c_str(), target.data(), target.size());
    const std::string_view text(target.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    if (text.starts_with('/')) {
      if (!text.starts_with(kInside) && text != "/workspace") return "";
      const std::string rest = end == std::string::npos ? "" : path.substr(end + 1);
      return workspace::JoinPath(WithoutRoot(text), rest);
    }
    if (end == std::string::npos) return "";
  }
}

}  // namespace

std::string_view WithoutRoot(std::string_view word) {
  if (word.starts_with(kInside)) word.remove_prefix(kInside.size());
  if (word == "/workspace") return "";
  while (word.starts_with("./")) word.remove_prefix(2);
  while (word.ends_with('.') || word.ends_with('/')) word.remove_suffix(1);
  return word;
}

bool TakeInside(std::string_view directory, std::string_view path, std::string& inside) {
  std::string whole = path.starts_with('/') ? std::string(path) : workspace::JoinPath(directory, path);
  if (whole.starts_with('/')) {
    if (!whole.starts_with(kInside) && whole != "/workspace") return false;
    whole.erase(0, kInside.size());
  }
  std::vector<std::string_view> parts;
  for (std::string_view rest = whole; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
      continue;
    }
    if (parts.empty()) return false;
    parts.pop_back();
  }
  inside.clear();
  for (const std::string_view part : parts) inside = workspace::JoinPath(inside, part);
  return true;
}

base::UniqueFd OpenInside(int workspace, const std::string& path) {
  std::string inside = path;
  for (int links = 0; links < kMostLinks; ++links) {
    base::UniqueFd found = workspace::FollowBeneath(workspace, inside.empty() ? "." : inside);
    if (found.valid() || errno == ENOENT || errno == ENOTDIR) return found;
    const std::string next = Redirected(workspace, inside);
    if (next.empty() || !TakeInside("", next, inside)) break;
  }
  return {};
}

}  // namespace skerry::engine
