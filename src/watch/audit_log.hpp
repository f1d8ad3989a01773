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

// Thread-safe. One process has it open at a time: kConflict for a second one. What Append has acknowledged outlives the
// end of the process at any moment.
class AuditLog {
 public:
  // Half a line that a killed process left at the end is moved away, and there is a record of that. A chain that does
  // not hold is gone on with, and that is a record too: nobody who tampers may stop the daemon, nor hide it.
  static base::Result<AuditLog> Open(AuditOptions options);
  AuditLog(AuditLog&& other) noexcept;
  ~AuditLog();

  // `details` is an object; texts in it that are no UTF-8 are made so. kUnavailable when it cannot be written; then
  // nothing of it is there. Gives how many bytes it takes.
  base::Result<std::uint64_t> Append(const std::string& event, const nlohmann::ordered_json& details);

  [[nodiscard]] std::uint64_t last() const;  // number of the last one
  // What all files take, as they were counted last and with what was written since.
  [[nodiscard]] std::uint64_t bytes() const;
  void CountBytes();

 private:
  struct State;
  explicit AuditLog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What is wrong at one place.
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

// False: no more of them.
using AuditTake = std::function<bool(std::string_view line)>;

// Reads all of it. While a daemon writes, what comes meanwhile may or may not be in. kNotFound when there is none. Each
// line that is a record is given to `take` as well, without its newline; after it said no, the rest counts as missing.
base::Result<AuditReport> VerifyAudit(const std::string& directory, const AuditTake& take = nullptr);

// Every line as it is, in order, until `take` says no.
base::Status ReadAudit(const std::string& directory, const AuditTake& take);

}  // namespace skerry::watch
