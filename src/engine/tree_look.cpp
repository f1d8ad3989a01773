#include "engine/tree_look.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "engine/run_digest.hpp"
#include "os/files.hpp"
#include "workspace/beneath.hpp"
#include "workspace/content.hpp"

namespace skerry::engine {
namespace {

constexpr std::string_view kTooMany = "there are more files than are looked at";
constexpr std::string_view kTooMuch = "there is more in its files than is read";

struct Entry {
  std::size_t tree = 0;
  std::string path;
  struct stat facts{};
  std::string content;  // SHA-256 of a file that was read; the target of a link
};

class Walk {
 public:
  Walk(std::span<const Tree> trees, const TreeBounds& bounds, const std::stop_token& stop)
      : trees_(trees), bounds_(bounds), stop_(stop) {}

  TreeLook Run() {
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) List(tree);
    ReadFiles();
    if (stop_.stop_requested()) Leave("whoever asked has gone");
    return {.digest = Digest(), .rest = std::move(rest_)};
  }

 private:
  void Leave(std::string_view why) {
    if (rest_.empty()) rest_ = why;
  }

  void List(std::size_t tree) {
    std::vector<std::string> directories = {""};
    while (!directories.empty() && !stop_.stop_requested()) {
      const std::string directory = std::move(directories.back());
      directories.pop_back();
      auto names = NamesOf(tree, directory);
      std::ranges::sort(names);
      for (const std::string& name : names) {
        if (!Take(tree, workspace::JoinPath(directory, name))) return;
        if (S_ISDIR(entries_.back().facts.st_mode)) directories.push_back(entries_.back().path);
      }
    }
  }

  std::vector<std::string> NamesOf(std::size_t tree, const std::string& directory) {
    auto opened = workspace::OpenBeneath(trees_[tree].directory, directory.empty() ? "." : directory,
                                         O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // Programs cannot change mounted files either.
    if (!opened && errno == EXDEV) return {};
    auto names = opened ? workspace::NamesIn(*std::move(opened), bounds_.entries)
                        : base::Result<std::vector<std::string>>(std::unexpected(opened.error()));
    if (!names)
      Leave(names.error().code == base::Code::kTooLarge ? kTooMany : "there is a directory that cannot be listed");
    return std::move(names).value_or(std::vector<std::string>());
  }

  // False when there is no room for more.
  bool Take(std::size_t tree, std::string path) {
    path_bytes_ += path.size();
    if (entries_.size() >= bounds_.entries || path_bytes_ > bounds_.path_bytes) {
      Leave(kTooMany);
      return false;
    }
    Entry entry{.tree = tree, .path = std::move(path)};
    const auto handle = workspace::OpenBeneath(trees_[tree].directory, entry.path, O_PATH | O_CLOEXEC);
    if (!handle && errno != EXDEV) Leave("there is a file that cannot be looked at");
    if (handle && ::fstat(handle->get(), &entry.facts) == 0 && S_ISLNK(entry.facts.st_mode))
      entry.content = os::ReadLink(handle->get(), "").value_or("");
    entries_.push_back(std::move(entry));
    return true;
  }

  void ReadFiles() {
    std::vector<Entry*> files;
    for (Entry& entry : entries_)
      if (S_ISREG(entry.facts.st_mode)) files.push_back(&entry);
    std::ranges::sort(files, {}, [](const Entry* file) { return std::pair(file->facts.st_size, file); });
    std::uint64_t left = bounds_.read_bytes;
    for (std::size_t at = 0; at < files.size() && !stop_.stop_requested(); ++at) {
      if (at >= bounds_.read_files || static_cast<std::uint64_t>(files[at]->facts.st_size) > left) {
        Leave(kTooMuch);
        return;
      }
      Read(*files[at], left);
    }
  }

  void Read(Entry& entry, std::uint64_t& left) {
    const auto file = workspace::OpenFileBeneath(trees_[entry.tree].directory, entry.path, workspace::Locked::kLeave);
    if (!file) return Leave("there is a file that cannot be read");
    auto content = workspace::ContentOf(file->get(), left, stop_);
    // The file may have grown since.
    if (!content)
      return Leave(content.error().code == base::Code::kTooLarge || stop_.stop_requested()
                       ? kTooMuch
                       : "there is a file that cannot be read");
    left -= content->size;
    entry.content = std::move(content->sha256);
  }

  [[nodiscard]] std::string Digest() const {
    // Python runs bytecode in place of the source when the bytecode has noted the source's time.
    const bool bytecode =
        std::ranges::any_of(entries_, [](const Entry& entry) { return entry.path.ends_with(".pyc"); });
    DigestBuilder digest;
    for (const Entry& entry : entries_) {
      digest.Add("tree", trees_[entry.tree].name).Add("path", entry.path);
      digest.Add("mode", std::uint64_t{entry.facts.st_mode}).Add("content", entry.content);
      const bool unread = S_ISREG(entry.facts.st_mode) && entry.content.empty();
      if (unread || (bytecode && entry.path.ends_with(".py"))) AddTime(digest, "changed", entry.facts.st_mtim);
      if (!unread) continue;
      AddTime(digest, "touched", entry.facts.st_ctim);
      digest.Add("size", static_cast<std::uint64_t>(entry.facts.st_size));
      digest.Add("number", std::uint64_t{entry.facts.st_ino});
    }
    return digest.Finish();
  }

  static void AddTime(DigestBuilder& digest, std::string_view name, const timespec& time) {
    digest.Add(name, static_cast<std::uint64_t>(time.tv_sec)).Add(name, static_cast<std::uint64_t>(time.tv_nsec));
  }

  std::span<const Tree> trees_;
  const TreeBounds& bounds_;
  const std::stop_token& stop_;
  std::vector<Entry> entries_;
  std::size_t path_bytes_ = 0;
  std::string rest_;
};

}  // namespace

TreeLook LookAtTrees(std::span<const Tree> trees, const TreeBounds& bounds, const std::stop_token& stop) {
  return Walk(trees, bounds, stop).Run();
}

}  // namespace skerry::engine
