// Bytes that count against the budget of an import.
#pragma once

#include <cstddef>
#include <span>

#include "archive/byte_source.hpp"
#include "base/result.hpp"
#include "image/import_budget.hpp"

namespace skerry::image {

// Passes the bytes of another source on as long as the import's budget has room for them. Source and budget are
// borrowed.
class MeteredSource : public archive::ByteSource {
 public:
  MeteredSource(archive::ByteSource& inner, ImportBudget& budget) : inner_(inner), budget_(budget) {}
  base::Result<std::size_t> Read(std::span<char> buffer) override;

 private:
  archive::ByteSource& inner_;
  ImportBudget& budget_;
};

}  // namespace skerry::image
