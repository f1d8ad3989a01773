#include "core/history.hpp"

#include <map>
#include <set>
#include <utility>

#include "base/printable.hpp"

namespace skerry::core {
namespace {

// The last state before the execution that matches the use. Only earlier executions count, so that no chain of origins
// comes back to where it began.
std::optional<FileVersion> StateUsed(const std::vector<FileVersion>& versions, const FileUse& use,
                                     const ExecutionRecord& user) {
  for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
    if (version->sequence >= user.sequence) continue;
    const bool removed = version->change.action == FileAction::kRemoved;
    if (use.sha256.empty()) return removed ? std::nullopt : std::optional(*version);
    if (!removed && version->change.sha256 == use.sha256) return *version;
  }
  return std::nullopt;
}

class FileHistoryLoader {
 public:
  FileHistoryLoader(RecordStore& store, std::string session, const FileHistoryBounds& bounds)
      : store_(store), session_(std::move(session)), bounds_(bounds) {}

  base::Result<FileHistory> Load(const std::string& path) {
    FileHistory history{.path = path};
    SKERRY_ASSIGN_OR_RETURN(const std::vector<FileVersion>* versions, VersionsOf(path));
    for (const FileVersion& version : *versions) {
      seen_.insert(KeyOf(version));
      SKERRY_ASSIGN_OR_RETURN(FileStep step, StepTo(version));
      history.versions.push_back(std::move(step));
    }
    SKERRY_RETURN_IF_ERROR(AddOrigins(history));
    return history;
  }

 private:
  using Key = std::pair<std::string, std::string>;  // path and execution

  static Key KeyOf(const FileVersion& version) { return {version.change.path, version.execution}; }

  // Level by level, so that the nearest origins come first and are kept when there are too many.
  base::Status AddOrigins(FileHistory& history) {
    std::vector<FileVersion> next = Unseen(history.versions);
    for (std::size_t depth = 0; !next.empty() && depth < bounds_.depth; ++depth) {
      std::vector<FileStep> level;
      for (const FileVersion& version : next) {
        if (history.origins.size() + level.size() == bounds_.origins) break;
        SKERRY_ASSIGN_OR_RETURN(FileStep step, StepTo(version));
        level.push_back(std::move(step));
      }
      history.cut = level.size() < next.size();
      next = history.cut ? std::vector<FileVersion>() : Unseen(level);
      for (FileStep& step : level) history.origins.push_back(std::move(step));
    }
    history.cut = history.cut || !next.empty();
    return {};
  }

  // The states that these steps were made from, as far as they are new.
  std::vector<FileVersion> Unseen(const std::vector<FileStep>& steps) {
    std::vector<FileVersion> versions;
    for (const FileStep& step : steps)
      for (const FileSource& source : step.sources)
        if (source.made && seen_.insert(KeyOf(*source.made)).second) versions.push_back(*source.made);
    return versions;
  }

  base::Result<FileStep> StepTo(const FileVersion& version) {
    FileStep step{.version = version};
    SKERRY_ASSIGN_OR_RETURN(step.execution, store_.FindExecution(version.execution));
    SKERRY_ASSIGN_OR_RETURN(const std::vector<FileUse> uses, store_.UsesOf(version.execution));
    for (const FileUse& use : uses) {
      SKERRY_ASSIGN_OR_RETURN(const std::vector<FileVersion>* versions, VersionsOf(use.path));
      step.sources.push_back({.use = use, .made = StateUsed(*versions, use, step.execution)});
    }
    return step;
  }

  base::Result<const std::vector<FileVersion>*> VersionsOf(const std::string& path) {
    if (const auto known = versions_.find(path); known != versions_.end()) return &known->second;
    SKERRY_ASSIGN_OR_RETURN(std::vector<FileVersion> versions, store_.VersionsOf(session_, path));
    return &versions_.emplace(path, std::move(versions)).first->second;
  }

  RecordStore& store_;
  std::string session_;
  FileHistoryBounds bounds_;
  std::map<std::string, std::vector<FileVersion>> versions_;
  std::set<Key> seen_;
};

}  // namespace

base::Result<std::vector<HistoryEntry>> LoadHistory(RecordStore& store, const std::string& session,
                                                    const HistoryRange& range) {
  SKERRY_ASSIGN_OR_RETURN(std::vector<ExecutionRecord> executions, store.Executions(session, range.after, range.limit));
  std::vector<HistoryEntry> entries;
  for (ExecutionRecord& execution : executions) {
    HistoryEntry entry;
    SKERRY_ASSIGN_OR_RETURN(ChangesPage page, store.PageOfChanges(execution.id, 0, kMostChangesOfEntry));
    entry.changes = std::move(page.changes);
    entry.changes_total = entry.changes.size();
    if (page.next != 0) {
      SKERRY_ASSIGN_OR_RETURN(entry.changes_total, store.CountChanges(execution.id));
    }
    SKERRY_ASSIGN_OR_RETURN(entry.uses, store.UsesOf(execution.id));
    entry.execution = std::move(execution);
    entries.push_back(std::move(entry));
  }
  return entries;
}

base::Result<FileHistory> LoadFileHistory(RecordStore& store, const std::string& session, const std::string& path,
                                          const FileHistoryBounds& bounds) {
  SKERRY_ASSIGN_OR_RETURN(FileHistory history, FileHistoryLoader(store, session, bounds).Load(path));
  if (history.versions.empty())
    return base::Err(base::Code::kNotFound, "the record knows no file '" + base::Printable(path) + "'");
  return history;
}

}  // namespace skerry::core
