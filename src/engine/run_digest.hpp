// The digest of what would run: an approval is about this and nothing else (ATTACKS J15).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.hpp"

namespace skerry::engine {

// Fields with their lengths, so that no two lists of fields have the same bytes.
class DigestBuilder {
 public:
  DigestBuilder& Add(std::string_view name, std::string_view value);
  DigestBuilder& Add(std::string_view name, std::uint64_t value);
  DigestBuilder& Add(std::string_view name, const std::vector<std::string>& values);
  // Afterwards the object is used up.
  std::string Finish() { return hash_.FinishHex(); }

 private:
  void AddField(std::string_view bytes);
  base::Sha256 hash_;
};

}  // namespace skerry::engine
