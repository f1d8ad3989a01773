// Any bytes as an audit, and any text in one of its records.
//
// The rules: whatever text is in a record, the record is one line of printable ASCII that is valid and JSON. A line
// that is taken for a record has a number and hashes of the right form. Bytes that are checked give at most 100 faults,
// and none only if all lines are records from 1 on.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "watch/audit_checker.hpp"

namespace {

namespace watch = skerry::watch;

void Require(bool holds, const char* rule) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", rule);
  std::abort();
}

watch::AuditText Recorded(std::uint64_t number, std::string_view text, std::string_view previous) {
  const nlohmann::ordered_json details = {{"text", text}, {std::string(text), 1}};
  watch::AuditText made = watch::MakeAuditLine({number, {}, std::string(text)}, details, previous);
  const std::string_view line = std::string_view(made.line).substr(0, made.line.size() - 1);
  const auto read = watch::ReadAuditLine(line);
  Require(made.line.ends_with('\n') && read && read->holds, "a record of ours is none");
  Require(read->number == number && read->previous == previous && read->hash == made.hash, "it says something else");
  Require(std::ranges::all_of(line, [](char byte) { return byte >= ' ' && byte <= '~'; }), "it is not printable");
  Require(nlohmann::ordered_json::accept(line), "it is no JSON");
  return made;
}

// Feeds all lines to the checker. Gives how many of them are records.
std::size_t Feed(watch::AuditChecker& checker, std::string_view bytes) {
  std::size_t records = 0;
  std::size_t number = 0;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const auto read = watch::ReadAuditLine(bytes.substr(0, end));
    if (read) Require(read->number > 0 && read->number < watch::kNumbersEnd, "a number that is none");
    if (read) Require(skerry::base::IsSha256Hex(read->hash) && skerry::base::IsSha256Hex(read->previous), "no hash");
    Require(checker.Take("file", ++number, bytes.substr(0, end)) == read.has_value(), "two opinions of a line");
    records += read ? 1 : 0;
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return records;
}

void Check(std::string_view bytes, const std::optional<watch::AuditHead>& head) {
  watch::AuditChecker checker(head);
  const std::size_t records = Feed(checker, bytes);
  const watch::AuditReport report = checker.Finish(head);
  Require(report.records == records, "a wrong count");
  Require(report.faults.size() <= 100, "too many faults");
  const bool whole = report.last == records && (records == 0 || report.first == 1);
  Require(whole || !report.faults.empty(), "something is missing and nobody says so");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Check(bytes, std::nullopt);
  Check(bytes, watch::AuditHead{});
  const watch::AuditText first = Recorded(1, bytes, watch::kNoHash);
  const watch::AuditText second = Recorded(2, bytes, first.hash);
  const watch::AuditHead head{2, second.hash};
  Check(first.line + second.line, head);
  Check(first.line + std::string(bytes) + "\n" + second.line, head);
  (void)watch::ReadHeadText(bytes);
  (void)watch::AuditFileNumber(bytes);
  return 0;
}
