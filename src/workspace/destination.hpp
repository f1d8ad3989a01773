// Where a file, directory or link is going to lie; the directories above it may be missing as yet.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "workspace/agent_workspace.hpp"
#include "workspace/mount_border.hpp"
#include "workspace/resolver.hpp"

namespace skerry::workspace {

// Directories that were made on the way to a place. Unless Keep is called, the destructor removes those that are still
// empty. To be held within the lock that orders changes: no other change may count on a directory that is removed
// again.
class MadeParents {
 public:
  MadeParents() = default;
  MadeParents(MadeParents&&) noexcept = default;
  MadeParents& operator=(MadeParents&&) = delete;
  ~MadeParents();

  // Makes `name` in the directory `above` (borrowed), or opens the one that is there.
  base::Result<base::UniqueFd> Make(int above, const std::string& name, const MountBorder& border);
  [[nodiscard]] std::size_t count() const { return made_.size(); }
  void Keep() { made_.clear(); }

 private:
  struct Made {
    Facts directory;  // the one it is in
    std::string name;
  };
  std::vector<Made> made_;  // from the top; without a descriptor for each: there may be a thousand
  base::UniqueFd last_;
};

class Destination {
 public:
  // `path` as MapPath gives it.
  static base::Result<Destination> Find(const Resolver& resolver, const std::string& path, Resolver::LastLink last,
                                        Parents parents);

  // What is there now, if anything. Until MakeParents its parent is the nearest directory that is there.
  [[nodiscard]] const Place& place() const { return located_.place; }
  [[nodiscard]] const std::string& path() const { return located_.path; }  // without links and dots
  [[nodiscard]] std::size_t missing() const { return missing_.size(); }    // directories

  // Looks again at what is there, because other processes may have made or removed directories since, and makes the
  // directories that are missing. They belong to the owner of the directory they are in. From now on place() is
  // complete.
  base::Result<MadeParents> MakeParents(const Resolver& resolver);

 private:
  Destination(Resolver::Located located, Parents parents) : located_(std::move(located)), parents_(parents) {}
  static base::Result<std::optional<Destination>> FindNearest(const Resolver& resolver, const std::string& path);

  Resolver::Located located_;
  Parents parents_;
  std::vector<std::string> missing_;  // names of directories, the next one to make is the last
};

// A directory that was made, with the owner of the one it is in; or the one that was there, opened.
struct MadeDirectory {
  base::UniqueFd fd;
  enum class From { kUs, kOthers };
  From from = From::kUs;
};
base::Result<MadeDirectory> MakeDirectoryIn(int parent, const std::string& name, const MountBorder& border);

}  // namespace skerry::workspace
