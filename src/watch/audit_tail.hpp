// Where an audit is continued after a restart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "watch/audit_chain.hpp"

namespace skerry::watch {

struct AuditTail {
  AuditHead last;                   // the next record follows this one
  base::UniqueFd file;              // to append to; none: a new one is needed
  std::uint64_t file_number = 0;    // the highest that is taken
  std::vector<std::string> damage;  // what has changed since the audit was written, in lines for people
  std::string torn_file;            // what half a line was moved out of; "" for none
  std::uint64_t torn_bytes = 0;
};

// Reads only the end of the audit. Half a line at the end is moved to a file of its own, "00000001.torn"; nothing else
// is changed.
base::Result<AuditTail> FindAuditTail(int directory);

// "00000001.torn" for "00000001.jsonl".
std::string TornNameOf(const std::string& file);

}  // namespace skerry::watch
