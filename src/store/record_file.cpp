#include "store/record_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/printable.hpp"

namespace skerry::store {
namespace {

base::Status Refuse(const std::filesystem::path& path, const std::string& why) {
  return base::Err(base::Code::kUnavailable, "the record " + base::Printable(path.native()) + " " + why);
}

base::Status CheckDirectory(const std::filesystem::path& directory, const std::filesystem::path& path) {
  struct stat status{};
  if (::stat(directory.c_str(), &status) != 0)
    return Refuse(path, "cannot be used: its directory: " + std::generic_category().message(errno));
  // A user who may write to the directory could put a log of changes beside the file.
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return Refuse(path, "lies in a directory of another user; name one of your own");
  if ((status.st_mode & S_IWOTH) != 0)
    return Refuse(path, "lies in a directory that everybody may write; take that right away or name another one");
  return {};
}

base::Status CheckFile(const std::filesystem::path& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0)
    return Refuse(path, "cannot be used: " + std::generic_category().message(errno));
  if (S_ISLNK(status.st_mode)) return Refuse(path, "is a symbolic link; name the file itself or remove the link");
  if (!S_ISREG(status.st_mode)) return Refuse(path, "is not a file; move it away or name another one");
  if (status.st_uid != ::geteuid()) return Refuse(path, "belongs to another user; name a file of your own");
  if (status.st_nlink != 1) return Refuse(path, "has a second name (hard link); remove one of them");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Refuse(path, "may be written by others; take that right away (chmod 600)");
  return {};
}

}  // namespace

base::Result<std::string> PrepareRecordFile(const std::string& path) {
  const std::filesystem::path given(path);
  if (given.filename().empty() || path.find('\0') != std::string::npos)
    return base::Err(base::Code::kInvalidArgument, "'" + base::Printable(path) + "' names no file for the record");
  std::error_code error;
  const auto directory = std::filesystem::canonical(given.has_parent_path() ? given.parent_path() : ".", error);
  if (error)
    return base::Err(base::Code::kUnavailable,
                     "the record " + base::Printable(path) + " cannot be used: its directory: " + error.message());
  const auto file = directory / given.filename();
  SKERRY_RETURN_IF_ERROR(CheckDirectory(directory, file));
  // Not by open(): closing a descriptor of the file would drop the locks that this process has on it elsewhere.
  if (::mknod(file.c_str(), S_IFREG | S_IRUSR | S_IWUSR, 0) != 0 && errno != EEXIST) {
    const int cause = errno;
    return base::Err(base::Code::kUnavailable, "the record " + base::Printable(file.native()) + " cannot be made (" +
                                                   std::generic_category().message(cause) + "); check its directory");
  }
  SKERRY_RETURN_IF_ERROR(CheckFile(file));
  return file.native();
}

}  // namespace skerry::store
