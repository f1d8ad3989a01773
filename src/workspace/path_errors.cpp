#include "workspace/path_errors.hpp"

#include <array>

#include "base/printable.hpp"
#include "os/errno_error.hpp"

namespace skerry::workspace {
namespace {

struct Row {
  int error_number;
  base::Code code;
  std::string_view text;
};

constexpr std::array kRows = {
    Row{ENOENT, base::Code::kNotFound, "is not there"},
    Row{ENOTDIR, base::Code::kNotFound, "a part of the path is no directory"},
    Row{EACCES, base::Code::kPermissionDenied, "permission denied"},
    Row{EPERM, base::Code::kPermissionDenied, "not permitted"},
    Row{EROFS, base::Code::kPermissionDenied, "the file system is read-only"},
    Row{EXDEV, base::Code::kPermissionDenied, "another file system is mounted there"},
    Row{EBUSY, base::Code::kPermissionDenied, "is in use, or something is mounted there"},
    Row{ENOSPC, base::Code::kTooLarge, "the disk is full"},
    Row{EDQUOT, base::Code::kTooLarge, "the disk is full for this user"},
    Row{EFBIG, base::Code::kTooLarge, "larger than a file can be here"},
    Row{EISDIR, base::Code::kConflict, "is a directory"},
    Row{EEXIST, base::Code::kConflict, "is there already"},
    Row{ENOTEMPTY, base::Code::kConflict, "the directory is not empty"},
    Row{ETXTBSY, base::Code::kConflict, "is a program that runs"},
    // Files are opened without waiting: the kernel breaks the lease 45 seconds after the first attempt.
    Row{EAGAIN, base::Code::kConflict, "a program has a lease on it; try again in a minute"},
    Row{ENAMETOOLONG, base::Code::kInvalidArgument, "the name is too long"},
    Row{EILSEQ, base::Code::kInvalidArgument, "the file system does not take this name"},
    Row{ELOOP, base::Code::kInvalidArgument, "leads through too many links"},
    Row{EMFILE, base::Code::kUnavailable, "too many files are open"},
    Row{ENFILE, base::Code::kUnavailable, "too many files are open"},
};

// The end of a long path says more than its beginning.
std::string Shown(std::string_view path) {
  constexpr std::size_t kMost = 255;
  if (path.empty()) return "/";
  if (path.size() <= kMost) return base::Printable(path);
  return "…" + base::Printable(path.substr(path.size() - kMost));
}

}  // namespace

base::Error PathError(int error_number) {
  for (const Row& row : kRows)
    if (row.error_number == error_number) return {row.code, std::string(row.text)};
  return {base::Code::kInternal, os::ErrnoText(error_number)};
}

base::Error Named(std::string_view path, base::Error error) {
  error.message = Shown(path) + ": " + error.message;
  return error;
}

}  // namespace skerry::workspace
