// AuditLog: what happened, one line each, chained: a line that is changed, removed or moved is found.
//
// A line is a JSON object in this order: "number" (from 1), "at" (RFC 3339, microseconds), "event", what it is about,
// "previous" (the hash of the line before; 64 zeros for the first) and at the end "hash": SHA-256, in hexadecimal, of
// all bytes of the line up to `,"hash"`. Files "00000001.jsonl", "00000002.jsonl" … in one directory; "head" has the
// number and the hash of the last line. Control characters are escaped by JSON: a line is a record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::watch {

struct AuditOptions {
  std::string directory;  // absolute; made where it is missing, for its owner alone
  std::uint64_t max_file_bytes = std::uint64_t{64} << 20U;
};

// Thread-safe. One process has the audit open at a time: kConflict for a second one. What Append has acknowledged
// outlives the end of the process at any moment.
class AuditLog {
 public:
  // Half a line that a killed process left at the end is moved away, and a record says so. A chain that does not hold
  // is continued, and a record says that too: tampering with the audit neither stops the daemon nor stays hidden.
  static base::Result<AuditLog> Open(AuditOptions options);
  AuditLog(AuditLog&& other) noexcept;
  ~AuditLog();

  // Appends a record. `details` is an object; texts in it that are no UTF-8 are made so. kUnavailable when the record
  // cannot be written; then no part of it is there. Gives the number of bytes that the record takes.
  base::Result<std::uint64_t> Append(const std::string& event, const nlohmann::ordered_json& details);

  [[nodiscard]] std::uint64_t last() const;  // number of the last record
  // The bytes of all files: as they were counted last, and what was written since.
  [[nodiscard]] std::uint64_t bytes() const;
  void CountBytes();

 private:
  struct State;
  explicit AuditLog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// One thing that is wrong with the audit, and where.
struct AuditFault {
  std::uint64_t number = 0;  // of the record, as far as it is known
  std::string file;
  std::size_t line = 0;
  std::string what;  // "record 7 was changed: its hash is not that of its text"
};
struct AuditReport {
  std::uint64_t records = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::string last_hash;
  std::vector<AuditFault> faults;  // at most 100
};

// Takes a line. False: no more lines are wanted.
using AuditTake = std::function<bool(std::string_view line)>;

// Reads the whole audit and checks it. Lines that a daemon writes meanwhile may or may not be included. kNotFound when
// there is no audit. Each line that is a record is given to `take` as well, without its newline; after `take` said no,
// the records that follow count as missing.
base::Result<AuditReport> VerifyAudit(const std::string& directory, const AuditTake& take = nullptr);

// Every line as it is, in order, until `take` says no.
base::Status ReadAudit(const std::string& directory, const AuditTake& take);

}  // namespace skerry::watch
