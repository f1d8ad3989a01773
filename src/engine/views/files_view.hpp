// FilesView: the files of a session, for a principal. The audit has what is handed out of files, and what changes them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/unique_fd.hpp"
#include "engine/views/sessions_view.hpp"
#include "engine/views/upload.hpp"
#include "engine/views/view.hpp"
#include "text/text_edit.hpp"
#include "workspace/agent_workspace.hpp"
#include "workspace/archive_export.hpp"
#include "workspace/archive_import.hpp"
#include "workspace/search.hpp"

namespace skerry::engine {

struct FilePart {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// A part of a file, to be sent when the session is not in use any more. It stays the same file even when its name is
// moved or deleted.
struct FileBytes {
  std::uint64_t size = 0;        // of the whole file
  std::optional<FilePart> part;  // the chosen part; none: nothing is handed out
  base::UniqueFd fd;
};

struct Written {
  core::FileChange change;
  // In words, when the file's content is not the expected one: nothing was written.
  std::optional<std::string> other_content;
};

struct FileEdit {
  std::string path;
  std::vector<text::TextEdit> edits;
  std::optional<std::string> expected_sha256;
  std::string_view as_sent;  // the client's body, of which the audit has size and hash
};

struct NewImport {
  std::optional<std::string> directory;  // none: the workspace
  std::optional<workspace::Existing> existing;
  std::optional<archive::ArchiveFormat> format;  // none: told by the first bytes
};

// A whole archive, in a file without a name.
struct ExportedFiles {
  base::UniqueFd file;
  std::uint64_t size = 0;
  base::BudgetShare share;  // of the room for bodies, until the archive is sent
  workspace::ExportReport report;
};

// A path is one of the workspace, whichever way the client writes it: `f`, `/f` and `/workspace/f` are the same file,
// and
// `/etc/passwd` is `etc/passwd` in the workspace. One that leads out of it is kPathTraversal.
class FilesView : public View {
 public:
  using Changes = std::vector<core::FileChange>;

  FilesView(const Access& access, SessionHandle session) : View(access), session_(std::move(session)) {}

  // Files as programs see them now.
  [[nodiscard]] base::Result<workspace::Listing> List(const std::string& path,
                                                      const workspace::ListOptions& options) const;
  [[nodiscard]] base::Result<workspace::Entry> Stat(const std::string& path) const;
  // Counted anew: programs change files too.
  [[nodiscard]] base::Result<WorkspaceUsage> Usage() const;

  // `choose` says which part of a file with this size is handed out.
  using ChoosePart = std::function<std::optional<FilePart>(std::uint64_t size)>;
  [[nodiscard]] base::Result<FileBytes> Read(const std::string& path, const ChoosePart& choose) const;
  // At most `most_text` bytes.
  [[nodiscard]] base::Result<workspace::Lines> ReadLines(const std::string& path, const workspace::LineRange& range,
                                                         std::size_t most_text) const;
  // `weigh` says how many bytes the dialect makes of the result, for the audit.
  using WeighResult = std::function<std::uint64_t(const workspace::SearchResult& result)>;
  [[nodiscard]] base::Result<workspace::SearchResult> Search(const workspace::SearchOptions& options,
                                                             const WeighResult& weigh,
                                                             const std::stop_token& stop) const;
  // Ends when `stop` is requested, and with the session.
  [[nodiscard]] base::Result<ExportedFiles> Export(const std::string& path, archive::ArchiveFormat format,
                                                   const std::stop_token& stop) const;

  base::Result<Written> Write(const std::string& path, const Upload& content,
                              const workspace::WriteOptions& options) const;
  base::Result<core::FileChange> Append(const std::string& path, const Upload& content) const;
  base::Result<workspace::AgentWorkspace::Edited> Edit(const FileEdit& edit) const;
  base::Result<workspace::Entry> MakeDirectory(const std::string& path, workspace::Parents parents) const;
  base::Result<Changes> Move(const std::string& from, const std::string& to, workspace::Existing existing) const;
  base::Result<Changes> Copy(const std::string& from, const std::string& to, workspace::Existing existing) const;
  // Without `depth` a directory must be empty.
  base::Result<Changes> Delete(const std::string& path, std::optional<workspace::Depth> depth) const;
  base::Result<workspace::ImportReport> Import(const Upload& archive, const NewImport& wanted) const;

  static constexpr std::uint64_t kMostAppended = std::uint64_t{64} << 20U;

 private:
  template <class Look>
  auto Reading(const HostedSession& hosted, const Look& look) const;
  // A recorded change, made only when there is room for its record.
  template <class Act>
  auto Making(const char* event, const Details& details, const Act& act) const;

  SessionHandle session_;
};

}  // namespace skerry::engine
