// The files of a person that content and archives are read from and written to.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::cli {

// All that comes on `fd`, in a file that has no name, at its beginning. kTooLarge for more than 4 GB.
base::Result<base::UniqueFd> Spool(int fd);

// A file that can be read at any place: what is none, like a pipe or - for stdin, is spooled.
base::Result<base::UniqueFd> OpenArchive(const std::string& path);

// A file that is there when it is finished, and not before; what was there stays until then. What is no regular file, a
// device or a fifo, is written as it is.
class NewFile {
 public:
  static base::Result<NewFile> Begin(const std::string& path);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  [[nodiscard]] int fd() const { return fd_.get(); }
  base::Status Finish();

 private:
  NewFile() = default;

  std::string path_;
  std::string temporary_;  // "" when there is none
  base::UniqueFd fd_;
};

}  // namespace skerry::cli
