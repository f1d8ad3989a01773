// Results that are kept and listed: bounds for what a program can make long.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/utf8.hpp"
#include "core/execution.hpp"

namespace skerry::core {
namespace {

constexpr std::size_t kLongestText = 2000;
constexpr std::size_t kLongestList = 20;
constexpr ListBounds kSummaryLists{.names = 10, .bytes = 1024};

// Keeps as many names from the beginning of a list as the bounds let through. True when that is not all.
template <class T, class Path>
bool Cut(std::vector<T>& files, const ListBounds& bounds, const Path& path) {
  std::size_t count = 0;
  for (std::size_t bytes = 0; count < files.size() && count < bounds.names; ++count) {
    bytes += path(files[count]).size();
    if (bytes > bounds.bytes) break;
  }
  const bool more = count < files.size();
  files.resize(count);
  return more;
}

void CutText(std::string& text) {
  if (text.size() <= kLongestText) return;
  text.resize(kLongestText);
  text = base::ToValidUtf8(text) + "…";
}

void CutTexts(std::vector<std::string>& texts) {
  if (texts.size() > kLongestList) texts.resize(kLongestList);
  for (std::string& text : texts) CutText(text);
}

}  // namespace

void Shorten(ExecutionResult& result, const ListBounds& bounds) {
  const FileTotals totals{.created = result.files_created.size(),
                          .changed = result.files_changed.size(),
                          .deleted = result.files_deleted.size(),
                          .withheld = result.files_withheld.size(),
                          .to_review = result.files_to_review.size()};
  bool cut = false;
  for (auto* files : {&result.files_created, &result.files_changed, &result.files_deleted})
    cut = Cut(*files, bounds, std::identity()) || cut;
  for (auto* files : {&result.files_withheld, &result.files_to_review})
    cut = Cut(*files, bounds, std::mem_fn(&WithheldFile::path)) || cut;
  if (cut && !result.files_total) result.files_total = totals;
}

ExecutionResult SummaryOf(const ExecutionResult& result) {
  ExecutionResult summary = result;
  for (std::string* text : {&summary.standard_output, &summary.standard_error, &summary.diff}) text->clear();
  Shorten(summary, kSummaryLists);
  for (auto* files : {&summary.files_withheld, &summary.files_to_review})
    for (WithheldFile& file : *files) CutText(file.reason);
  for (std::string* text : {&summary.outcome.reason, &summary.risk.reason, &summary.approved_by}) CutText(*text);
  for (auto* texts : {&summary.degraded, &summary.risk.detected_patterns, &summary.risk.lowerings}) CutTexts(*texts);
  if (summary.limits_reached.size() > kLongestList) summary.limits_reached.resize(kLongestList);
  if (!summary.cell) return summary;
  CellDetails& cell = *summary.cell;
  cell.outputs_left_out += cell.outputs.size();
  cell.outputs.clear();
  if (cell.error)
    for (std::string* text : {&cell.error->name, &cell.error->message, &cell.error->traceback}) CutText(*text);
  return summary;
}

}  // namespace skerry::core
