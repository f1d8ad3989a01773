// Where something is going to lie; the directories above it may be missing as yet.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "workspace/agent_workspace.hpp"
#include "workspace/mount_border.hpp"
#include "workspace/resolver.hpp"

namespace skerry::workspace {

class Destination {
 public:
  // `path` as MapPath gives it.
  static base::Result<Destination> Find(const Resolver& resolver, const std::string& path, Resolver::LastLink last,
                                        Parents parents);

  // What is there now, if anything. Its parent is the nearest directory that is there until MakeParents.
  [[nodiscard]] const Place& place() const { return located_.place; }
  [[nodiscard]] const std::string& path() const { return located_.path; }  // without links and dots
  [[nodiscard]] std::size_t missing() const { return missing_.size(); }    // directories

  // From now on place() is complete. They belong to the owner of the directory they are in.
  base::Status MakeParents(const MountBorder& border);
  [[nodiscard]] std::size_t made() const { return made_.size(); }
  // Looks again at what is there.
  base::Status Refresh();
  // Unless this is said, the directories that were made go again, if they are empty still.
  void KeepParents() { made_.clear(); }

  Destination(Destination&&) noexcept = default;
  Destination& operator=(Destination&&) = delete;
  ~Destination();

 private:
  Destination() = default;
  void RemoveMadeParents();
  static base::Result<Destination> FindNearest(const Resolver& resolver, const std::string& path);
  base::Status MakeOne(const std::string& name, const MountBorder& border);

  struct Made {
    Facts directory;
    std::string name;
  };
  Resolver::Located located_;
  std::vector<std::string> missing_;  // names of directories, the next one to make is the last
  std::vector<Made> made_;            // from the top; not with a descriptor each: there may be a thousand
};

// Makes a directory, which gets the owner of the one it is in; or opens the one that is there.
struct MadeDirectory {
  base::UniqueFd fd;
  enum class From { kUs, kOthers };
  From from = From::kUs;
};
base::Result<MadeDirectory> MakeDirectoryIn(int parent, const std::string& name, const MountBorder& border);

}  // namespace skerry::workspace
