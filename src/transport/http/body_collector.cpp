#include "transport/http/body_collector.hpp"

#include <unistd.h>

#include <utility>

#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::transport::http {
namespace {

// A body that is read as JSON is in memory as text, as values and in the request that is made of it. The many small
// bodies are not counted.
constexpr std::uint64_t kCopies = 4;
constexpr std::uint64_t kUncounted = std::uint64_t{64} << 10U;

Refusal RefusalFor(const base::Error& error) {
  if (error.code == base::Code::kTooLarge)
    return {.status = 507, .code = "unavailable", .message = "no room on the disk for this body"};
  return {.status = 500, .code = "internal", .message = "keep the body: " + error.message};
}

std::string Megabytes(std::uint64_t bytes) {
  return std::to_string(bytes >> 20U) + " MB";
}

Refusal NoMemory(base::Shortage shortage) {
  const Headers again = {{"Retry-After", "1"}};
  if (shortage == base::Shortage::kOwn)
    return {.status = 429,
            .code = "rate_limited",
            .message =
                "requests of this tenant take all of the memory that they may (an eighth of "
                "sandbox.daemon.memoryMb); wait for one of them",
            .headers = again};
  return {.status = 503,
          .code = "unavailable",
          .message =
              "requests take all of the memory that they may (a quarter of sandbox.daemon.memoryMb); try again "
              "soon",
          .headers = again};
}

Refusal NoSpool(base::Shortage shortage, const base::BudgetShare& share) {
  const Headers again = {{"Retry-After", "5"}};
  if (shortage == base::Shortage::kOwn)
    return {.status = 429,
            .code = "rate_limited",
            .message = "bodies of this tenant that are on their way take all of the " +
                       Megabytes(share.budget()->limits().each) +
                       " that they may (sandbox.budgets.spoolPerTenantMb); wait for one of them",
            .headers = again};
  return {.status = 507,
          .code = "unavailable",
          .message = shortage == base::Shortage::kAll
                         ? "bodies that are on their way take all of the room that they may (sandbox.budgets.spoolMb); "
                           "try again soon"
                         : "no room on the disk for this body; try again later, or ask the owner to free some space",
          .headers = again};
}

}  // namespace

std::optional<Refusal> BodyCollector::Expect(std::uint64_t length) const {
  const base::Budget* budget = body_.share.budget();
  if (budget == nullptr || limits_.keeping == Keeping::kMemory || body_.share.reach() == base::Reach::kReserve ||
      length <= limits_.in_memory)
    return std::nullopt;
  const std::uint64_t each = budget->limits().each;
  if (each == 0 || length <= each || length > limits_.most) return std::nullopt;
  return Refusal{.status = 413,
                 .code = "too_large",
                 .message = "the body is larger than the " + Megabytes(each) +
                            " that a tenant's bodies may take (sandbox.budgets.spoolPerTenantMb); send it in parts"};
}

std::optional<Refusal> BodyCollector::Append(std::string_view bytes) {
  if (bytes.size() > limits_.most - body_.size)
    return Refusal{.status = 413, .code = "too_large", .message = "the body is too large"};
  body_.size += bytes.size();
  if (limits_.keeping == Keeping::kMemory) return KeepInMemory(bytes);
  if (!body_.file.valid() && body_.size <= limits_.in_memory) {
    body_.bytes += bytes;
    return std::nullopt;
  }
  if (!body_.file.valid()) {
    if (auto refusal = OpenFile()) return refusal;
  }
  return WriteToFile(bytes);
}

std::optional<Refusal> BodyCollector::KeepInMemory(std::string_view bytes) {
  body_.bytes += bytes;
  if (body_.size <= kUncounted) return std::nullopt;
  if (const auto shortage = body_.share.Grow(body_.size * kCopies - body_.share.bytes())) return NoMemory(*shortage);
  return std::nullopt;
}

std::optional<Refusal> BodyCollector::OpenFile() {
  auto file = os::NamelessFile(limits_.spool);
  if (!file) return RefusalFor(file.error());
  body_.file = std::move(*file);
  auto refusal = WriteToFile(body_.bytes);
  std::string().swap(body_.bytes);
  return refusal;
}

std::optional<Refusal> BodyCollector::WriteToFile(std::string_view bytes) {
  if (const auto shortage = body_.share.Grow(bytes.size())) return NoSpool(*shortage, body_.share);
  const auto written = os::WriteAll(body_.file.get(), bytes);
  if (!written) return RefusalFor(written.error());
  return std::nullopt;
}

std::expected<Body, Refusal> BodyCollector::Finish() {
  if (body_.file.valid() && ::lseek(body_.file.get(), 0, SEEK_SET) < 0)
    return std::unexpected(RefusalFor(os::ErrnoError("lseek")));
  return std::move(body_);
}

}  // namespace skerry::transport::http
