// Going through a tree in the order of its paths, entry by entry, at any depth and in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "workspace/mount_border.hpp"

namespace skerry::workspace {

// The order is that of PathBefore: a directory comes right before what is in it, names go by their bytes. No link is
// followed and no other file system entered. What vanishes meanwhile is passed over; a directory that is moved
// meanwhile ends the walk with kConflict. Two descriptors at any depth.
class SortedWalk {
 public:
  // How many names are held in memory. A directory with more is read several times.
  struct Memory {
    std::size_t of_one;
    std::size_t of_all;
  };
  static constexpr Memory kUsual{.of_one = 50'000, .of_all = 150'000};

  // `top` is a directory opened for reading; borrowed.
  static base::Result<SortedWalk> Open(int top, const Memory& memory = kUsual);

  // Begins at this path: what lies before it is not even looked at.
  void BeginAt(std::string path) { begin_ = std::move(path); }

  // False at the end. After a directory comes what is in it, unless Skip is called.
  base::Result<bool> Next();
  void Skip() { descend_ = false; }

  // The present entry.
  [[nodiscard]] const std::string& path() const { return path_; }  // relative to the top
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Facts& facts() const { return facts_; }  // of a link itself
  [[nodiscard]] int directory() const { return here_.get(); }  // the directory that holds the entry
  [[nodiscard]] const MountBorder& border() const { return border_; }

  // What could not be entered or looked at: mounts, and what this process may not read. The first hundred by name.
  [[nodiscard]] const std::vector<std::string>& passed() const { return passed_; }
  [[nodiscard]] std::uint64_t passed_count() const { return passed_count_; }

 private:
  struct Level {
    Facts facts;
    std::size_t path_size;           // of its own path
    std::vector<std::string> names;  // a page of them
    std::size_t next = 0;            // in the page
    std::string last;                // the last name that was given or passed
    bool more = true;                // there are names behind the page
  };

  SortedWalk(base::UniqueFd here, const MountBorder& border, const Memory& memory)
      : memory_(memory), border_(border), here_(std::move(here)) {}
  base::Status Load(Level& level);
  bool Look();
  base::Status GoDown();
  base::Status GoUp();
  void DropPages();
  void Pass();
  [[nodiscard]] bool LiesBefore() const;

  Memory memory_;
  MountBorder border_;
  base::UniqueFd here_;
  std::vector<Level> levels_;
  std::size_t kept_ = 0;  // names in all pages
  std::string begin_;
  std::string path_;
  std::string name_;
  Facts facts_{};
  bool descend_ = false;
  std::vector<std::string> passed_;
  std::uint64_t passed_count_ = 0;
};

}  // namespace skerry::workspace
