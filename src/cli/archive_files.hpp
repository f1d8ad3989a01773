// The person's files that contents and archives are read from and written to.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::cli {

// A regular file is read from its present position. Anything else, like a pipe or - for stdin, is first read whole into
// a file without a name: its writer may be slow, and may need the session until then. kTooLarge for more than 4 GB of
// that.
base::Result<base::UniqueFd> OpenInput(const std::string& path);

// Gives the file block by block, "" at the end. `fd` is borrowed; `name` is for errors.
std::function<base::Result<std::string>()> FeedFrom(int fd, std::string name);

// A file that appears when it is finished, and not before; an existing file stays until then. A device or a fifo is
// written directly.
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
  std::string temporary_;  // "" when there is no temporary file
  base::UniqueFd fd_;
};

}  // namespace skerry::cli
