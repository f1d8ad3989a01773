#include "transport/http/body_collector.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "os/errno_error.hpp"

namespace skerry::transport::http {
namespace {

Refusal OfErrno(int error_number) {
  if (error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG)
    return {.status = 507, .code = "unavailable", .message = "no room on the disk for this body"};
  return {.status = 500, .code = "internal", .message = "keep the body: " + os::ErrnoText(error_number)};
}

base::UniqueFd OpenNameless(const std::string& directory) {
  base::UniqueFd fd(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (fd.valid() || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
  std::string name = directory + "/body-XXXXXX";
  fd.Reset(::mkostemp(name.data(), O_CLOEXEC));
  if (fd.valid()) ::unlink(name.c_str());
  return fd;
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
  body_.file = OpenNameless(limits_.spool);
  if (!body_.file.valid()) return OfErrno(errno);
  auto refusal = WriteToFile(body_.bytes);
  std::string().swap(body_.bytes);
  return refusal;
}

std::optional<Refusal> BodyCollector::WriteToFile(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(body_.file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return OfErrno(errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return std::nullopt;
}

std::expected<Body, Refusal> BodyCollector::Finish() {
  if (body_.file.valid() && ::lseek(body_.file.get(), 0, SEEK_SET) < 0) return std::unexpected(OfErrno(errno));
  return std::move(body_);
}

}  // namespace skerry::transport::http
