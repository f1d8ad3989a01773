#include "cli/archive_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::cli {
namespace {

constexpr std::size_t kBlock = std::size_t{256} << 10U;
constexpr std::uint64_t kMaxSpooled = std::uint64_t{4} << 30U;

base::Result<base::UniqueFd> NamelessFile() {
  const char* chosen = std::getenv("TMPDIR");
  const std::string directory = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  auto file = os::NamelessFile(directory);
  if (!file) return base::Err(file.error().code, file.error().message + " in " + directory);
  return file;
}

// The mode that open(2) would have given the file.
mode_t UsualMode() {
  constexpr mode_t kAll = 0666;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return kAll & ~mask;
}

base::Result<base::UniqueFd> Spool(int fd) {
  SKERRY_ASSIGN_OR_RETURN(base::UniqueFd file, NamelessFile());
  std::vector<char> block(kBlock);
  for (std::uint64_t total = 0;;) {
    const ssize_t count = ::read(fd, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) break;
    if (count < 0) return os::ErrnoErr("read the input");
    total += static_cast<std::uint64_t>(count);
    if (total > kMaxSpooled) return base::Err(base::Code::kTooLarge, "the input has more than 4 GB");
    SKERRY_RETURN_IF_ERROR(os::WriteAll(file.get(), {block.data(), static_cast<std::size_t>(count)}));
  }
  if (::lseek(file.get(), 0, SEEK_SET) < 0) return os::ErrnoErr("read the input again");
  return file;
}

}  // namespace

base::Result<base::UniqueFd> OpenInput(const std::string& path) {
  base::UniqueFd file(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                  : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts{};
  if (!file.valid() || ::fstat(file.get(), &facts) < 0) return os::ErrnoErr(path == "-" ? "stdin" : path);
  if (S_ISDIR(facts.st_mode)) return os::ErrnoErr(path, EISDIR);
  if (S_ISREG(facts.st_mode)) return file;
  return Spool(file.get());
}

std::function<base::Result<std::string>()> FeedFrom(int fd, std::string name) {
  return [fd, name = std::move(name)]() -> base::Result<std::string> {
    std::string block(kBlock, '\0');
    for (;;) {
      const ssize_t count = ::read(fd, block.data(), block.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return os::ErrnoErr(name);
      block.resize(static_cast<std::size_t>(count));
      return block;
    }
  };
}

base::Result<NewFile> NewFile::Begin(const std::string& path) {
  NewFile file;
  file.path_ = path;
  struct stat facts{};
  if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) {
    file.fd_.Reset(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.fd_.valid()) return os::ErrnoErr(path);
    return file;
  }
  std::string name = path + ".XXXXXX";
  file.fd_.Reset(::mkostemp(name.data(), O_CLOEXEC));
  if (!file.fd_.valid()) return os::ErrnoErr(path);
  file.temporary_ = std::move(name);
  return file;
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, "")), fd_(std::move(other.fd_)) {}

NewFile::~NewFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

base::Status NewFile::Finish() {
  if (temporary_.empty()) return {};
  if (::fchmod(fd_.get(), UsualMode()) < 0 || ::fsync(fd_.get()) < 0) return os::ErrnoErr(path_);
  if (::rename(temporary_.c_str(), path_.c_str()) < 0) return os::ErrnoErr(path_);
  temporary_.clear();
  return {};
}

}  // namespace skerry::cli
