#include "archive/entry_path.hpp"

#include <algorithm>

#include "base/printable.hpp"

namespace skerry::archive {
namespace {

base::Status CheckPart(std::string_view part, std::string_view whole) {
  if (part == "..")
    return base::Err(base::Code::kPathTraversal,
                     "the archive is refused: " + QuotedPath(whole) + " has '..' in it and could lead out of the tree");
  if (part.size() > kMaxNameBytes)
    return base::Err(base::Code::kTooLarge, "the archive is refused: " + QuotedPath(whole) +
                                                " has a name of more than " + std::to_string(kMaxNameBytes) + " bytes");
  return {};
}

}  // namespace

std::string QuotedPath(std::string_view text) {
  return "'" + base::Printable(base::Excerpt(text)) + "'";
}

base::Result<EntryPath> ParseEntryPath(std::string_view text) {
  if (text.empty()) return base::Err(base::Code::kInvalidArgument, "the archive is refused: an entry has no name");
  if (text.find('\0') != std::string_view::npos)
    return base::Err(base::Code::kInvalidArgument,
                     "the archive is refused: " + QuotedPath(text) + " has a zero byte in its name");
  if (text.size() > kMaxPathBytes)
    return base::Err(base::Code::kTooLarge, "the archive is refused: " + QuotedPath(text) + " is longer than " +
                                                std::to_string(kMaxPathBytes) + " bytes");
  EntryPath path;
  std::size_t depth = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, slash);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    SKERRY_RETURN_IF_ERROR(CheckPart(part, text));
    if (++depth > kMaxDepth)
      return base::Err(base::Code::kTooLarge, "the archive is refused: " + QuotedPath(text) + " is more than " +
                                                  std::to_string(kMaxDepth) + " directories deep");
    path = {.parent = path.Joined(), .name = std::string(part)};
  }
  return path;
}

}  // namespace skerry::archive
