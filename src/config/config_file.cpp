#include "config/config_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/unique_fd.hpp"
#include "config/check.hpp"

namespace skerry::config {
namespace {

std::unexpected<base::Error> SystemRefused(const std::string& path, int number) {
  return Refused(path, "cannot be read: " + std::generic_category().message(number));
}

base::Status CheckRegular(int fd, const std::string& path) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return SystemRefused(path, errno);
  if (S_ISDIR(status.st_mode)) return Refused(path, "is a directory, expected a regular file");
  if (!S_ISREG(status.st_mode)) return Refused(path, "is not a regular file");
  return {};
}

// Reads one byte more than allowed, to see that there is more: the size may change while we read.
base::Result<std::string> ReadLimited(int fd, const std::string& path) {
  std::string text(kMaxFileBytes + 1, '\0');
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t count = ::read(fd, text.data() + length, text.size() - length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemRefused(path, errno);
    if (count == 0) break;
    length += static_cast<std::size_t>(count);
  }
  if (length > kMaxFileBytes)
    return Refused(path, "too large, allowed are " + std::to_string(kMaxFileBytes) + " bytes");
  text.resize(length);
  return text;
}

}  // namespace

base::Result<std::optional<std::string>> ReadConfigFile(const std::string& path) {
  // Without O_NONBLOCK the open of a FIFO waits for a writer.
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid() && errno == ENOENT) return std::nullopt;
  if (!file.valid()) return SystemRefused(path, errno);
  SKERRY_RETURN_IF_ERROR(CheckRegular(file.get(), path));
  return ReadLimited(file.get(), path);
}

}  // namespace skerry::config
