// BodyCollector: the bytes of a body as they come, in memory or in a file without a name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "transport/http/dialect.hpp"
#include "transport/http/message.hpp"

namespace skerry::transport::http {

struct BodyLimits {
  std::uint64_t most = 0;
  std::uint64_t in_memory = 0;
  std::string spool;  // where the file lives
};

class BodyCollector {
 public:
  explicit BodyCollector(BodyLimits limits) : limits_(std::move(limits)) {}
  // 413: too much. 507: the disk is full.
  std::optional<Refusal> Append(std::string_view bytes);
  // At its beginning.
  std::expected<Body, Refusal> Finish();

 private:
  std::optional<Refusal> OpenFile();
  std::optional<Refusal> WriteToFile(std::string_view bytes);

  BodyLimits limits_;
  Body body_;
};

}  // namespace skerry::transport::http
