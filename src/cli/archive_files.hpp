// The files of a person that content and archives are read from and written to.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::cli {

// A file that is read from where it stands. What is none, like a pipe or - for stdin, is taken whole first, into a file
// that has no name: whoever writes it may be slow, and may need the session until then. kTooLarge for more than 4 GB of
// that.
base::Result<base::UniqueFd> OpenInput(const std::string& path);

// Gives the file block by block, "" at its end. `fd` is borrowed; `name` is for errors.
std::function<base::Result<std::string>()> FeedFrom(int fd, std::string name);

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
