#include "engine/views/history_pages.hpp"

#include <algorithm>
#include <utility>

namespace skerry::engine {
namespace {

// Executions that are loaded with all of their code at once, before their size is known.
constexpr std::size_t kStep = 4;
// Bytes of code, where only its beginning is wanted.
constexpr std::size_t kBeginning = 4096;

// About the size of the entry as JSON.
std::size_t WeightOf(const core::HistoryEntry& entry) {
  constexpr std::size_t kPerFile = 256;
  std::size_t weight = entry.execution.what.size() + (entry.changes.size() + entry.uses.size()) * kPerFile;
  for (const core::FileChange& change : entry.changes) weight += change.path.size();
  for (const core::FileUse& use : entry.uses) weight += use.path.size();
  return weight;
}

// Calls `take` for each entry until it returns false. True: there are no more.
template <class Take>
base::Result<bool> ForEachEntry(core::RecordStore& store, const std::string& session, core::HistoryRange range,
                                const Take& take) {
  std::size_t left = range.limit;
  while (left > 0) {
    range.limit = std::min(left, kStep);
    SKERRY_ASSIGN_OR_RETURN(std::vector<core::HistoryEntry> entries, core::LoadHistory(store, session, range));
    for (core::HistoryEntry& entry : entries) {
      range.after = entry.execution.sequence;
      if (!take(std::move(entry))) return false;
    }
    if (entries.size() < range.limit) return true;
    left -= entries.size();
  }
  return false;
}

void CutCode(std::vector<core::FileStep>& steps, std::size_t& budget) {
  for (core::FileStep& step : steps) {
    std::string& what = step.execution.what;
    if (what.size() > budget) what.resize(std::min(what.size(), kBeginning));
    budget -= std::min(budget, what.size());
  }
}

}  // namespace

base::Result<HistoryPage> LoadHistoryPage(core::RecordStore& store, const std::string& session,
                                          const core::HistoryRange& range, std::size_t most_bytes) {
  HistoryPage page;
  std::size_t weight = 0;
  SKERRY_ASSIGN_OR_RETURN(const bool all, ForEachEntry(store, session, range, [&](core::HistoryEntry entry) {
                            weight += WeightOf(entry);
                            page.entries.push_back(std::move(entry));
                            return weight < most_bytes;
                          }));
  if (all || page.entries.empty()) return page;
  const std::uint64_t last = page.entries.back().execution.sequence;
  SKERRY_ASSIGN_OR_RETURN(const auto more, store.Executions(session, last, 1));
  if (!more.empty()) page.next = last;
  return page;
}

base::Result<std::vector<core::HistoryEntry>> LoadHistoryOutline(core::RecordStore& store, const std::string& session,
                                                                 const core::HistoryRange& range,
                                                                 std::size_t most_parts) {
  std::vector<core::HistoryEntry> entries;
  std::size_t parts = 0;
  SKERRY_RETURN_IF_ERROR(ForEachEntry(store, session, range, [&](core::HistoryEntry entry) {
    parts += 1 + entry.changes_total + entry.uses.size();
    // A new string: a shorter one would keep the memory of the long one.
    if (entry.execution.what.size() > kBeginning) entry.execution.what = entry.execution.what.substr(0, kBeginning);
    entries.push_back(std::move(entry));
    return parts <= most_parts;
  }));
  if (parts <= most_parts) return entries;
  return base::Err(base::Code::kTooLarge, "the history is too long for one drawing; give after and limit");
}

base::Result<core::FileHistory> LoadFileHistoryPart(core::RecordStore& store, const std::string& session,
                                                    const std::string& path, std::size_t most_versions,
                                                    std::size_t most_code) {
  SKERRY_ASSIGN_OR_RETURN(const auto versions, store.VersionsOf(session, path));
  if (versions.size() > most_versions)
    return base::Err(base::Code::kTooLarge,
                     "the file has " + std::to_string(versions.size()) +
                         " states, which is too much for one answer; see the history of the session");
  SKERRY_ASSIGN_OR_RETURN(core::FileHistory history, core::LoadFileHistory(store, session, path));
  CutCode(history.versions, most_code);
  CutCode(history.origins, most_code);
  return history;
}

}  // namespace skerry::engine
