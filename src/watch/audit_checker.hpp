// AuditChecker: is fed the lines of an audit in order, and names what is wrong with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "watch/audit_chain.hpp"
#include "watch/audit_log.hpp"
#include "watch/audit_runs.hpp"

namespace skerry::watch {

class AuditChecker {
 public:
  // `head` as it was before the lines were read; nothing when there is none.
  explicit AuditChecker(std::optional<AuditHead> head);

  // Takes the next line. True when it has the form of a record, changed or not.
  bool Take(const std::string& file, std::size_t line, std::string_view text);
  // Takes half a line that stands at the end of a file.
  void TakeHalf(const std::string& file, std::size_t line);

  // `head` as it is after the lines were read: a daemon that writes meanwhile has moved it on.
  AuditReport Finish(const std::optional<AuditHead>& head);

 private:
  struct Found {
    std::uint64_t ordinal = 0;
    AuditFault fault;
  };
  // Lines that are no records, one behind the other.
  struct Odd {
    std::size_t lines = 0;
    bool half = false;
    AuditPlace place;
  };

  // The last link between two records that does not hold.
  struct Broken {
    std::uint64_t number = 0;  // of the later record; 0: there is no such link
    std::size_t found = 0;     // the index of its fault in found_
  };

  AuditPlace PlaceOf(const std::string& file, std::size_t line);
  void Add(const AuditPlace& place, std::uint64_t number, std::string what);
  std::size_t CloseOdd();
  void Continue(std::uint64_t number, const AuditLine& line, const AuditPlace& place);
  void CheckLink(std::uint64_t number, const AuditLine& line);
  void CompareHead(std::uint64_t number, const AuditLine& line);
  void AddMisplaced(const AuditMisplacement& misplaced);
  void FinishHead(std::uint64_t last, const std::optional<AuditHead>& after);

  std::optional<AuditHead> head_;
  std::vector<AuditRun> runs_;
  AuditPlace last_place_;
  Odd odd_;
  std::vector<Found> found_;
  std::uint64_t lines_ = 0;
  std::uint64_t records_ = 0;
  Broken broken_;
  bool too_many_ = false;
  enum class HeadSeen { kNo, kSame, kOther } head_seen_ = HeadSeen::kNo;
};

}  // namespace skerry::watch
