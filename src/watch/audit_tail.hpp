// Where an audit that is there already goes on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "watch/audit_chain.hpp"

namespace skerry::watch {

struct AuditTail {
  AuditHead last;                   // the next one comes behind it
  base::UniqueFd file;              // to append to; none: a new one is needed
  std::uint64_t file_number = 0;    // the highest that is taken
  std::vector<std::string> damage;  // what is not as it was left, for people
  std::string torn_file;            // what half a line was moved out of; "" for none
  std::uint64_t torn_bytes = 0;
};

// Reads the end only. Half a line is moved to a file of its own, "00000001.torn"; nothing else is changed.
base::Result<AuditTail> FindAuditTail(int directory);

// "00000001.torn" for "00000001.jsonl".
std::string TornNameOf(const std::string& file);

}  // namespace skerry::watch
