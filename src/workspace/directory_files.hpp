// DirectoryFiles: a directory of this machine as the workspace of a sandbox, for backends that have one there.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/sandbox_files.hpp"

namespace skerry::workspace {

// Most entries that a mark may have, and bytes of all their paths.
inline constexpr std::size_t kMostMarked = 200'000;
inline constexpr std::size_t kMostMarkedBytes = std::size_t{32} << 20U;

// Every entry below a directory, which is borrowed, with versions by what the kernel keeps and no program can set.
// kTooLarge beyond the bounds, kPermissionDenied when a program has closed a directory to us.
base::Result<core::FileMark> MarkDirectory(int root, base::Deadline deadline, const std::stop_token& stop);

// A tar archive of these entries, in a file without a name.
base::Result<std::unique_ptr<base::ByteSource>> PackEntries(int root, std::span<const std::string> paths,
                                                            base::Deadline deadline, const std::stop_token& stop);

// Programs may change the directory at any time, and are not trusted: no link is followed, nothing outside is reached.
class DirectoryFiles : public core::SandboxFiles {
 public:
  // Gives the directory as it is now, open: -1 while there is none.
  using Root = std::function<base::UniqueFd()>;
  explicit DirectoryFiles(Root root) : root_(std::move(root)) {}

  base::Result<core::FileMark> Mark(base::Deadline deadline, const std::stop_token& stop) override;
  base::Status Import(base::ByteSource& tar, base::Deadline deadline, const std::stop_token& stop) override;
  base::Result<std::unique_ptr<base::ByteSource>> Export(std::span<const std::string> paths, base::Deadline deadline,
                                                         const std::stop_token& stop) override;
  base::Status Remove(std::span<const std::string> paths, base::Deadline deadline,
                      const std::stop_token& stop) override;
  base::Result<std::string> Read(const std::string& path, std::uint64_t offset, std::size_t length,
                                 base::Deadline deadline, const std::stop_token& stop) override;

 private:
  [[nodiscard]] base::Result<base::UniqueFd> Open() const;

  Root root_;
};

}  // namespace skerry::workspace
