#include "os/files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>

#include "os/errno_error.hpp"

namespace skerry::os {

base::Result<std::string> ReadAll(int fd, std::size_t limit) {
  std::string text;
  std::array<char, 16384> buffer{};
  for (;;) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoErr("read");
    if (count == 0) return text;
    if (text.size() + static_cast<std::size_t>(count) > limit)
      return base::Err(base::Code::kTooLarge, "more than " + std::to_string(limit) + " bytes");
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

base::Result<std::string> ReadFile(const std::string& path, std::size_t limit) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoErr(path);
  auto text = ReadAll(fd.get(), limit);
  if (!text) text.error().message = path + ": " + text.error().message;
  return text;
}

base::Status WriteControlFile(const std::string& path, std::string_view text) {
  const base::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoErr(path);
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) return ErrnoErr(path);
  return {};
}

base::Result<std::string> ReadLink(int directory, const std::string& name) {
  std::array<char, PATH_MAX + 1> target{};
  const ssize_t size = ::readlinkat(directory, name.c_str(), target.data(), target.size());
  if (size < 0 && errno == EINVAL) return base::Err(base::Code::kInvalidArgument, name + ": not a symbolic link");
  if (size < 0) return ErrnoErr("read link " + name);
  return std::string(target.data(), static_cast<std::size_t>(size));
}

base::Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoErr("write");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

base::Result<base::UniqueFd> SealedMemory(std::string_view bytes) {
  base::UniqueFd fd(::memfd_create("skerry-code", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return ErrnoErr("memfd_create");
  SKERRY_RETURN_IF_ERROR(WriteAll(fd.get(), bytes));
  if (::lseek(fd.get(), 0, SEEK_SET) < 0) return ErrnoErr("lseek");
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
    return ErrnoErr("seal memory");
  return fd;
}

base::Result<base::UniqueFd> NamelessFile(const std::string& directory) {
  base::UniqueFd file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  // Not every file system has O_TMPFILE.
  if (!file.valid() && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    std::string name = directory + "/skerry-XXXXXX";
    file.Reset(::mkostemp(name.data(), O_CLOEXEC));
    if (file.valid()) ::unlink(name.c_str());
  }
  if (!file.valid()) return ErrnoErr("make a temporary file");
  return file;
}

bool TmpfsHasUserAttributes() {
  const base::UniqueFd fd(::memfd_create("skerry-probe", MFD_CLOEXEC));
  return fd.valid() && ::fsetxattr(fd.get(), "user.skerry", "1", 1, 0) == 0;
}

}  // namespace skerry::os
