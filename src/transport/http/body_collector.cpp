#include "transport/http/body_collector.hpp"

#include <unistd.h>

#include <utility>

#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::transport::http {
namespace {

Refusal RefusalFor(const base::Error& error) {
  if (error.code == base::Code::kTooLarge)
    return {.status = 507, .code = "unavailable", .message = "no room on the disk for this body"};
  return {.status = 500, .code = "internal", .message = "keep the body: " + error.message};
}

}  // namespace

std::optional<Refusal> BodyCollector::Append(std::string_view bytes) {
  if (bytes.size() > limits_.most - body_.size)
    return Refusal{.status = 413, .code = "too_large", .message = "the body is too large"};
  body_.size += bytes.size();
  if (!body_.file.valid() && body_.size <= limits_.in_memory) {
    body_.bytes += bytes;
    return std::nullopt;
  }
  if (!body_.file.valid()) {
    if (auto refusal = OpenFile()) return refusal;
  }
  return WriteToFile(bytes);
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
