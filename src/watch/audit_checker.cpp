#include "watch/audit_checker.hpp"

#include <algorithm>
#include <limits>

namespace skerry::watch {
namespace {

constexpr std::size_t kMostFaults = 100;
constexpr std::size_t kMostFound = 10'000;  // of which the first ones are reported
constexpr std::size_t kMostRuns = 1'000;

AuditPlace HeadPlace() {
  return {std::numeric_limits<std::uint64_t>::max(), "head", 1};
}

std::string RecordText(std::uint64_t number) {
  return "record " + std::to_string(number);
}

// "record 7 is", "records 7 to 9 are"
std::string RecordsAre(std::uint64_t first, std::uint64_t last) {
  if (first == last) return RecordText(first) + " is";
  return "records " + std::to_string(first) + " to " + std::to_string(last) + " are";
}

std::string BehindText(std::uint64_t number) {
  return number == 0 ? "at the beginning" : "behind record " + std::to_string(number);
}

}  // namespace

AuditChecker::AuditChecker(std::optional<AuditHead> head)
    : head_(std::move(head)), runs_{{.last_hash = std::string(kNoHash)}} {}

AuditPlace AuditChecker::PlaceOf(const std::string& file, std::size_t line) {
  return {lines_++, file, line};
}

void AuditChecker::Add(const AuditPlace& place, std::uint64_t number, std::string what) {
  if (found_.size() == kMostFound) return;
  found_.push_back({place.ordinal, {number, place.file, place.line, std::move(what)}});
}

// Reports the lines that are no records. Gives how many there were.
std::size_t AuditChecker::CloseOdd() {
  const Odd odd = std::exchange(odd_, {});
  if (odd.lines == 0) return 0;
  const std::uint64_t number = runs_.back().last + 1;
  std::string what = odd.lines == 1 ? "a line is no record" : std::to_string(odd.lines) + " lines are no records";
  if (odd.half)
    what =
        "a line is not ended: whoever wrote it was killed, and the next start of the daemon moves it away; or it was "
        "cut off";
  Add(odd.place, number, what + ", where record " + std::to_string(number) + " should be");
  return odd.lines;
}

void AuditChecker::TakeHalf(const std::string& file, std::size_t line) {
  const AuditPlace place = PlaceOf(file, line);
  if (odd_.lines++ == 0) odd_.place = place;
  odd_.half = true;
}

bool AuditChecker::Take(const std::string& file, std::size_t line, std::string_view text) {
  const AuditPlace place = PlaceOf(file, line);
  const auto read = ReadAuditLine(text);
  if (!read) {
    if (odd_.lines++ == 0) odd_.place = place;
    return false;
  }
  ++records_;
  if (too_many_) return true;
  const AuditRun& run = runs_.back();
  const std::uint64_t expected = run.last + 1;
  std::uint64_t number = read->number;
  if (!read->holds) {
    // The number itself may have been changed: when the record follows the one before, its number is the expected one.
    if (read->previous == run.last_hash) number = expected;
    Add(place, number, RecordText(number) + " was changed: its hash is not that of its text");
  }
  CompareHead(number, *read);
  const std::size_t odd = CloseOdd();
  if (read->holds && number == run.last && read->hash == run.last_hash) {
    Add(place, number, RecordText(number) + " is there twice");
    return true;
  }
  if (number > expected && number - expected <= odd) {
    // The odd lines were the records that would be missing here.
    runs_.back().last = number - 1;
    runs_.back().last_sound = false;
  }
  Continue(number, *read, place);
  if (read->holds && read->event == "audit.damaged")
    Add(place, number, RecordText(number) + " tells that the audit was found damaged when the daemon started; read it");
  return true;
}

void AuditChecker::Continue(std::uint64_t number, const AuditLine& line, const AuditPlace& place) {
  if (number == runs_.back().last + 1 && runs_.size() > 1) {
    CheckLink(number, line);
  } else if (runs_.size() <= kMostRuns) {
    runs_.push_back(
        {.first = number, .first_previous = std::string(line.previous), .first_sound = line.holds, .place = place});
  } else {
    too_many_ = true;
    Add(place, number, "too much is out of order; what follows was not looked at");
    return;
  }
  AuditRun& run = runs_.back();
  run.last = number;
  run.last_hash = line.hash;
  run.last_sound = line.holds;
  last_place_ = place;
}

// Checks the link of a record to the one before; both must be unchanged.
void AuditChecker::CheckLink(std::uint64_t number, const AuditLine& line) {
  const AuditRun& run = runs_.back();
  if (!run.last_sound || !line.holds || line.previous == run.last_hash) return;
  // Two broken links in a row: the record between them was replaced.
  const bool between = broken_.number == number - 1 && broken_.found < found_.size();
  if (between) found_.erase(found_.begin() + static_cast<std::ptrdiff_t>(broken_.found));
  broken_ = between ? Broken{} : Broken{number, found_.size()};
  Add(last_place_, number - 1,
      RecordText(number - 1) + " was replaced: it is not the one that record " + std::to_string(number) + " follows");
}

void AuditChecker::CompareHead(std::uint64_t number, const AuditLine& line) {
  if (!head_ || head_->number != number || head_seen_ == HeadSeen::kSame) return;
  // A changed record is reported already.
  head_seen_ = !line.holds || line.hash == head_->hash ? HeadSeen::kSame : HeadSeen::kOther;
}

void AuditChecker::AddMisplaced(const AuditMisplacement& misplaced) {
  using Kind = AuditMisplacement::Kind;
  const std::string which = RecordsAre(misplaced.first, misplaced.last);
  std::string what;
  switch (misplaced.kind) {
    case Kind::kMissing:
      what = which + " missing";
      break;
    case Kind::kCutOff:
      what = which + " missing at the end: the head has record " + std::to_string(head_->number);
      break;
    case Kind::kTwice:
      what = which + " there twice";
      break;
    case Kind::kMoved:
      what = which + " out of order: found " + BehindText(misplaced.behind);
      break;
    case Kind::kReplaced:
      what = RecordText(misplaced.first) + " was replaced: it is not the one that the next one follows";
      break;
  }
  Add(misplaced.kind == Kind::kCutOff ? HeadPlace() : misplaced.place, misplaced.first, std::move(what));
}

void AuditChecker::FinishHead(std::uint64_t last, const std::optional<AuditHead>& after) {
  const AuditPlace place = HeadPlace();
  if (!head_ || !after) {
    Add(place, last, "the head is missing or was changed: it cannot be told whether records are missing at the end");
    return;
  }
  if (head_->number > last) return;  // the missing records are reported already
  // A process that is killed between the record and the head leaves a head that is one behind.
  if (after->number + 1 < last)
    Add(place, after->number,
        "the head was changed: it has record " + std::to_string(after->number) + ", and the last one is record " +
            std::to_string(last));
  else if (head_seen_ == HeadSeen::kOther)
    Add(place, head_->number,
        RecordText(head_->number) + " was replaced, or the head was changed: the head has another hash for it");
}

AuditReport AuditChecker::Finish(const std::optional<AuditHead>& head) {
  const std::size_t odd = CloseOdd();
  const AuditOrder order = OrderOf(runs_, head_ ? std::optional(head_->number) : std::nullopt);
  for (const AuditMisplacement& misplaced : order.misplaced) {
    const bool cut_off = misplaced.kind == AuditMisplacement::Kind::kCutOff;
    // The missing records were the lines at the end that are no records.
    if (!cut_off || misplaced.last - misplaced.first >= odd) AddMisplaced(misplaced);
  }
  AuditReport report{.records = records_,
                     .first = runs_[order.first_run].first,
                     .last = runs_[order.last_run].last,
                     .last_hash = runs_[order.last_run].last_hash};
  FinishHead(report.last, head);
  std::ranges::sort(found_, {}, [](const Found& found) { return std::pair(found.ordinal, found.fault.number); });
  for (Found& found : found_) {
    if (report.faults.size() == kMostFaults) break;
    report.faults.push_back(std::move(found.fault));
  }
  return report;
}

}  // namespace skerry::watch
