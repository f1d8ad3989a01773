#include "engine/bootstrap.hpp"

#include <fcntl.h>

#include <array>
#include <string_view>
#include <utility>

#include "os/errno_error.hpp"

namespace skerry::engine {
namespace {

using workspace::AgentWorkspace;
using Changes = AgentWorkspace::Changes;

constexpr std::array<std::string_view, 6> kDirectories = {"code", "data", "output", "artifacts", "temp", ".memory"};
struct Note {
  std::string_view path;
  std::string_view text;
};
constexpr std::array kNotes = {Note{".memory/task_plan.md", "# Task Plan\n\n"},
                               Note{".memory/findings.md", "# Findings\n\n"},
                               Note{".memory/progress.md", "# Progress\n\n"}};

bool IsDirectory(const AgentWorkspace& files, std::string_view path) {
  const auto entry = files.Stat(path);
  return entry && entry->kind == workspace::EntryKind::kDirectory;
}

// Copies from one workspace to another. The source's names and contents are data, as everywhere.
class Copier {
 public:
  Copier(const AgentWorkspace& source, AgentWorkspace& target) : source_(source), target_(target) {}

  // The tree at `from`, with everything below it, as `to`.
  base::Status CopyTree(const std::string& from, const std::string& to) {
    std::vector<std::pair<std::string, std::string>> pending = {{from, to}};
    while (!pending.empty()) {
      const auto [source, target] = std::move(pending.back());
      pending.pop_back();
      if (!target.empty()) SKERRY_RETURN_IF_ERROR(target_.MakeDirectory(target, workspace::Parents::kMake));
      for (workspace::ListOptions page;;) {
        SKERRY_ASSIGN_OR_RETURN(const workspace::Listing listing, source_.List(source, page));
        for (const workspace::Entry& entry : listing.entries) {
          const std::string to_path = workspace::JoinPath(target, workspace::NameOf(entry.path));
          if (entry.kind == workspace::EntryKind::kDirectory) {
            pending.emplace_back(entry.path, to_path);
          } else {
            SKERRY_RETURN_IF_ERROR(CopyFile(entry.path, to_path));
          }
        }
        if (listing.next.empty()) break;
        page.after = listing.next;
      }
    }
    return {};
  }

  base::Status CopyFile(const std::string& from, const std::string& to) {
    constexpr std::size_t kBlock = std::size_t{256} << 10U;
    const auto reader = source_.OpenFile(from);
    if (!reader) return {};  // a link that leads out or nowhere, a fifo
    SKERRY_ASSIGN_OR_RETURN(const workspace::Entry entry, source_.Stat(from));
    workspace::WriteOptions options;
    if (entry.kind == workspace::EntryKind::kFile) options.mode = entry.mode;
    SKERRY_ASSIGN_OR_RETURN(workspace::FileWriter writer, target_.BeginWrite(to, options));
    for (std::uint64_t at = 0; at < reader->size();) {
      SKERRY_ASSIGN_OR_RETURN(const std::string block, reader->ReadAt(at, kBlock));
      if (block.empty()) break;
      SKERRY_RETURN_IF_ERROR(writer.Write(block));
      at += block.size();
    }
    SKERRY_ASSIGN_OR_RETURN(core::FileChange change, writer.Finish());
    changes_.push_back(std::move(change));
    return {};
  }

  Changes Take() { return std::move(changes_); }

 private:
  const AgentWorkspace& source_;
  AgentWorkspace& target_;
  Changes changes_;
};

}  // namespace

base::Result<Changes> MakeLayout(AgentWorkspace& files) {
  for (const std::string_view directory : kDirectories)
    SKERRY_RETURN_IF_ERROR(files.MakeDirectory(directory, workspace::Parents::kMake));
  Changes changes;
  for (const Note& note : kNotes) {
    SKERRY_ASSIGN_OR_RETURN(core::FileChange change, files.Write(note.path, note.text));
    changes.push_back(std::move(change));
  }
  return changes;
}

base::Result<Changes> CopySource(const std::string& source, const std::vector<std::string>& listed,
                                 AgentWorkspace& files) {
  base::UniqueFd root(::open(source.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) return os::ErrnoErr("the source of new workspaces, " + source);
  const AgentWorkspace from(std::move(root), base::UniqueFd(), {});
  Copier copier(from, files);
  const bool has_init = IsDirectory(from, "init");
  if (has_init) SKERRY_RETURN_IF_ERROR(copier.CopyTree("init", ""));
  if (IsDirectory(from, "skills")) SKERRY_RETURN_IF_ERROR(copier.CopyTree("skills", "skills"));
  if (!has_init)
    for (const std::string& path : listed) SKERRY_RETURN_IF_ERROR(copier.CopyFile(path, path));
  return copier.Take();
}

}  // namespace skerry::engine
