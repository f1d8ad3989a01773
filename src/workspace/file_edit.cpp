// Editing: read, change, and write if the file is still what was read.
#include <utility>

#include "base/sha256.hpp"
#include "workspace/agent_workspace.hpp"
#include "workspace/path_errors.hpp"

namespace skerry::workspace {
namespace {

constexpr std::size_t kMaxEdited = std::size_t{16} << 20U;

}  // namespace

base::Result<AgentWorkspace::Edited> AgentWorkspace::Edit(std::string_view path,
                                                          const std::vector<text::TextEdit>& edits,
                                                          const std::optional<std::string>& expected_sha256) {
  SKERRY_ASSIGN_OR_RETURN(const std::string before, Read(path, {}, kMaxEdited));
  std::string sha256 = base::Sha256Hex(before);
  if (expected_sha256 && *expected_sha256 != sha256)
    return NamedErr(path, base::Code::kConflict, "is not as expected: somebody changed it meanwhile; read it again");
  auto after = text::ApplyEdits(before, edits);
  if (!after) return std::unexpected(Named(path, std::move(after).error()));
  Edited edited{.change = std::nullopt, .report = after->report};
  if (after->bytes == before) return edited;
  SKERRY_ASSIGN_OR_RETURN(edited.change, Write(path, after->bytes,
                                               {.existing = Existing::kReplace,
                                                .parents = Parents::kNeed,
                                                .mode = std::nullopt,
                                                .expected_sha256 = std::move(sha256)}));
  return edited;
}

}  // namespace skerry::workspace
