#include "engine/views/history_view.hpp"

#include <optional>
#include <utility>

#include "core/session_name.hpp"
#include "engine/host.hpp"
#include "workspace/path_errors.hpp"
#include "workspace/resolver.hpp"

namespace skerry::engine {

base::Result<core::RecordStore*> HistoryView::Store() const {
  if (record() != nullptr) return record();
  return base::Err(base::Code::kUnavailable, "there is no record of what happened in sessions; see skerry doctor");
}

base::Result<std::vector<core::SessionRecord>> HistoryView::RecordsOf(core::RecordStore& store,
                                                                      const std::string& name) const {
  const auto tenant = principal().everybody() ? std::nullopt : std::optional(principal().tenant);
  SKERRY_ASSIGN_OR_RETURN(std::vector<core::SessionRecord> records, store.SessionsNamed(name, tenant));
  if (name.contains('~')) {
    records.clear();
    if (const auto exact = store.FindSession(name)) records.push_back(*exact);
  }
  std::erase_if(records, [&](const core::SessionRecord& each) { return !principal().Sees(each.tenant); });
  return records;
}

base::Result<HistoryView::RecordedSession> HistoryView::FindRecorded(const std::string& session) const {
  const auto hosted = host().Find(principal(), session);
  if (!hosted && hosted.error().code != base::Code::kNotFound) return std::unexpected(hosted.error());
  SKERRY_ASSIGN_OR_RETURN(core::RecordStore * store, Store());
  if (!hosted) {
    // A session that is being removed may not be marked as deleted yet.
    SKERRY_ASSIGN_OR_RETURN(const auto records, RecordsOf(*store, session));
    if (records.empty()) return std::unexpected(hosted.error());
    return RecordedSession{*store, records.front().id};
  }
  // The record under a name belongs to the last session of that name, until the new session is recorded.
  const std::string& workspace = (*hosted)->life().workspace();
  SKERRY_ASSIGN_OR_RETURN(const core::SessionRecord known, store->FindSession(workspace));
  if (!known.deleted_at) return RecordedSession{*store, workspace};
  return base::Err(base::Code::kNotFound,
                   "nothing was recorded of session " + std::string(core::NameOfSession(workspace)));
}

base::Result<std::vector<core::SessionRecord>> HistoryView::Records(const std::string& session) const {
  return Allowed(kToRead, [&]() -> base::Result<std::vector<core::SessionRecord>> {
    SKERRY_ASSIGN_OR_RETURN(core::RecordStore * store, Store());
    SKERRY_ASSIGN_OR_RETURN(auto records, RecordsOf(*store, session));
    if (records.empty()) return base::Err(base::Code::kNotFound, "there is no session " + session.substr(0, 64));
    return records;
  });
}

base::Result<HistoryPage> HistoryView::Page(const std::string& session, const core::HistoryRange& range) const {
  return Allowed(kToRead, [&]() -> base::Result<HistoryPage> {
    SKERRY_ASSIGN_OR_RETURN(const RecordedSession recorded, FindRecorded(session));
    return LoadHistoryPage(recorded.store, recorded.name, range);
  });
}

base::Result<std::vector<core::HistoryEntry>> HistoryView::Outline(const std::string& session,
                                                                   const core::HistoryRange& range) const {
  return Allowed(kToRead, [&]() -> base::Result<std::vector<core::HistoryEntry>> {
    SKERRY_ASSIGN_OR_RETURN(const RecordedSession recorded, FindRecorded(session));
    return LoadHistoryOutline(recorded.store, recorded.name, range);
  });
}

base::Result<core::FileHistory> HistoryView::OfFile(const std::string& session, const std::string& path) const {
  return Allowed(kToRead, [&]() -> base::Result<core::FileHistory> {
    SKERRY_ASSIGN_OR_RETURN(const std::string name, workspace::Named(path, workspace::MapPath(path)));
    SKERRY_ASSIGN_OR_RETURN(const RecordedSession recorded, FindRecorded(session));
    return LoadFileHistoryPart(recorded.store, recorded.name, name);
  });
}

}  // namespace skerry::engine
