// BodyCollector: collects the bytes of a body, in memory or in a file without a name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "transport/http/dialect.hpp"
#include "transport/http/message.hpp"

namespace skerry::transport::http {

// Where a body is kept.
enum class Keeping {
  kMemory,  // all of it
  kSpool,   // beyond `in_memory` bytes it goes to a file
};

struct BodyLimits {
  Keeping keeping = Keeping::kSpool;
  std::uint64_t most = 0;
  std::uint64_t in_memory = 0;
  std::string spool;  // directory of the file
};

class BodyCollector {
 public:
  // `share` limits what the body may take of the memory, or its file of the spool.
  explicit BodyCollector(BodyLimits limits, base::BudgetShare share = {}) : limits_(std::move(limits)) {
    body_.share = std::move(share);
  }
  // Called before the first byte of a body of this length: a body that could not be kept is not read either.
  [[nodiscard]] std::optional<Refusal> Expect(std::uint64_t length) const;
  // 413: too large. 429: the tenant's bodies take too much already. 503: those of all tenants do. 507: the spool or the
  // disk is full.
  std::optional<Refusal> Append(std::string_view bytes);
  // The body; its file is at its beginning.
  std::expected<Body, Refusal> Finish();

 private:
  std::optional<Refusal> KeepInMemory(std::string_view bytes);
  std::optional<Refusal> OpenFile();
  std::optional<Refusal> WriteToFile(std::string_view bytes);

  BodyLimits limits_;
  Body body_;
};

}  // namespace skerry::transport::http
