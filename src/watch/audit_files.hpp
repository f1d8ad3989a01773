// The files of the audit: which there are, and their lines from either end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "watch/audit_chain.hpp"

namespace skerry::watch {

inline constexpr const char* kHeadFile = "head";
// A longer line is read in pieces, none of which is a record: a file without line ends must not fill the memory.
inline constexpr std::size_t kLongestLine = std::size_t{64} << 20U;

// The numbers of the files, in order.
base::Result<std::vector<std::uint64_t>> AuditFilesIn(int directory);

// kInvalidArgument for anything but a regular file, a link included: the audit makes none of these. `flags` are those
// of open(2).
base::Result<base::UniqueFd> OpenAuditFile(int directory, const std::string& name, int flags);

// The bytes that everything in the directory takes.
base::Result<std::uint64_t> AuditBytesIn(int directory);
// The head that the directory's head file has; nothing when there is no such file, or when it holds no head.
std::optional<AuditHead> ReadHead(int directory);

// Lines of a file from its beginning. `fd` is borrowed.
class ForwardLines {
 public:
  enum class End {
    kNewline,
    kFile,     // half a line; the next call gives it again, with what was written meanwhile
    kTooLong,  // a piece; what follows is the next one
  };
  struct Line {
    std::string_view text;  // without its newline; valid until the next call
    End end = End::kNewline;
  };
  explicit ForwardLines(int fd) : fd_(fd) {}
  // Nothing at the end of the file.
  base::Result<std::optional<Line>> Next();

 private:
  base::Result<std::size_t> Fill();

  int fd_;
  std::uint64_t offset_ = 0;  // of what is read next
  std::string held_;
  std::size_t used_ = 0;  // of what is held
};

// Lines of a file from the byte at `end` towards its beginning, without their newlines. `fd` is borrowed.
class BackwardLines {
 public:
  BackwardLines(int fd, std::uint64_t end) : fd_(fd), begin_(end) {}
  base::Result<std::optional<std::string>> Next();

 private:
  base::Status Fill();

  int fd_;
  std::uint64_t begin_;  // of what is held
  std::string held_;
  std::size_t piece_ = std::size_t{16} << 10U;
};

// How many of the first `size` bytes are whole lines. `fd` is borrowed.
base::Result<std::uint64_t> WholeLines(int fd, std::uint64_t size);

}  // namespace skerry::watch
