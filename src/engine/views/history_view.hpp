// HistoryView: the record of sessions, also of deleted ones, for a principal.
#pragma once

#include <string>
#include <vector>

#include "core/history.hpp"
#include "engine/views/history_pages.hpp"
#include "engine/views/view.hpp"

namespace skerry::engine {

// A session is named by its tenant's name for it or by its id. Where no session has the name, the last one that had it
// is meant.
class HistoryView : public View {
 public:
  explicit HistoryView(const Access& access) : View(access) {}

  // Records of sessions that have or had the name, the newest first.
  [[nodiscard]] base::Result<std::vector<core::SessionRecord>> Records(const std::string& session) const;
  [[nodiscard]] base::Result<HistoryPage> Page(const std::string& session, const core::HistoryRange& range) const;
  // For a drawing: with the beginning of the code only.
  [[nodiscard]] base::Result<std::vector<core::HistoryEntry>> Outline(const std::string& session,
                                                                      const core::HistoryRange& range) const;
  // Where a file comes from. `path` is as the client writes it.
  [[nodiscard]] base::Result<core::FileHistory> OfFile(const std::string& session, const std::string& path) const;

 private:
  // The record of the session's workspace: sessions that share one share its record too.
  struct RecordedSession {
    core::RecordStore& store;
    std::string name;
  };
  [[nodiscard]] base::Result<core::RecordStore*> Store() const;
  [[nodiscard]] base::Result<std::vector<core::SessionRecord>> RecordsOf(core::RecordStore& store,
                                                                         const std::string& name) const;
  [[nodiscard]] base::Result<RecordedSession> FindRecorded(const std::string& session) const;
};

}  // namespace skerry::engine
