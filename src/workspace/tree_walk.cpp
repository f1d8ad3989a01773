#include "workspace/tree_walk.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "os/directory.hpp"
#include "workspace/path_errors.hpp"

namespace skerry::workspace {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
constexpr std::size_t kMaxWaiting = 4'000'000;  // directories that are known and not yet entered

class Walker {
 public:
  Walker(int top, TreeVisitor& visitor, const WalkOptions& options)
      : border_(top), visitor_(visitor), options_(options), here_(::openat(top, ".", kDirectory)) {}

  base::Status Run() {
    if (!here_.valid()) return PathErr();
    Facts facts{};
    if (!FactsAt(here_.get(), "", facts)) return PathErr();
    SKERRY_RETURN_IF_ERROR(List(facts));
    while (!levels_.empty()) {
      if (levels_.back().waiting.empty()) {
        SKERRY_RETURN_IF_ERROR(GoUp());
      } else {
        const std::string name = std::move(levels_.back().waiting.back());
        levels_.back().waiting.pop_back();
        --waiting_;
        SKERRY_RETURN_IF_ERROR(GoDown(name));
      }
    }
    return {};
  }

 private:
  struct Level {
    Facts facts;
    std::vector<std::string> waiting;  // directories in this one
    std::size_t path_size;
  };

  // Visits the entries of the directory `here_`, and remembers its directories.
  base::Status List(const Facts& facts) {
    levels_.push_back({facts, {}, path_.size()});
    base::UniqueFd again(::openat(here_.get(), ".", kDirectory));
    if (!again.valid()) return NamedErrno(errno);
    const os::Directory listing = os::ListingOf(std::move(again));
    if (listing == nullptr) return NamedErrno(errno);
    for (;;) {
      errno = 0;
      const dirent* entry = ::readdir(listing.get());
      if (entry == nullptr && errno != 0) return NamedErrno(errno);
      if (entry == nullptr) return {};
      if (os::IsDots(entry->d_name)) continue;
      if (options_.private_names == WalkOptions::Private::kPass && IsPrivateName(entry->d_name)) continue;
      SKERRY_RETURN_IF_ERROR(Take(entry->d_name));
    }
  }

  base::Status Take(const std::string& name) {
    Facts facts{};
    const Appended appended(path_, name);
    if (!FactsAt(here_.get(), name.c_str(), facts)) return errno == ENOENT ? base::Status{} : Obstacle(errno);
    if (!border_.Holds(facts)) return Obstacle(EXDEV);
    if (!IsDirectory(facts)) return visitor_.Visit({here_.get(), name, path_, facts});
    if (++waiting_ > kMaxWaiting) return base::Err(base::Code::kTooLarge, "holds too many directories");
    levels_.back().waiting.push_back(name);
    return {};
  }

  base::Status GoDown(const std::string& name) {
    const std::size_t size = path_.size();
    if (!path_.empty()) path_ += '/';
    path_ += name;
    base::UniqueFd next(::openat(here_.get(), name.c_str(), kDirectory));
    Facts facts{};
    // By ".", so that a directory that may be listed but not entered is found now: there would be no way up from it.
    int problem = next.valid() && FactsAt(next.get(), ".", facts) ? 0 : errno;
    if (problem == 0 && !border_.Holds(facts)) problem = EXDEV;
    if (problem != 0) {
      const bool vanished = problem == ENOENT || problem == ENOTDIR || problem == ELOOP;
      auto status = vanished ? base::Status{} : Unreadable(name, problem);
      path_.resize(size);
      return status;
    }
    SKERRY_RETURN_IF_ERROR(visitor_.Enter({here_.get(), name, path_, facts}));
    here_ = std::move(next);
    return List(facts);
  }

  // Visits a directory that cannot be read: it is still an entry.
  base::Status Unreadable(const std::string& name, int problem) {
    SKERRY_RETURN_IF_ERROR(Obstacle(problem));
    Facts facts{};
    if (!FactsAt(here_.get(), name.c_str(), facts) || !IsDirectory(facts) || !border_.Holds(facts)) return {};
    SKERRY_RETURN_IF_ERROR(visitor_.Enter({here_.get(), name, path_, facts}));
    return visitor_.Leave();
  }

  base::Status GoUp() {
    levels_.pop_back();
    if (levels_.empty()) return {};
    path_.resize(levels_.back().path_size);
    auto above = OpenAbove(here_.get(), levels_.back().facts);
    if (!above) return std::unexpected(Named(path_, std::move(above).error()));
    here_ = std::move(*above);
    return visitor_.Leave();
  }

  [[nodiscard]] base::Status Obstacle(int error_number) const {
    const WalkOptions::Obstacle rule = error_number == EXDEV ? options_.mounts : options_.locked;
    return rule == WalkOptions::Obstacle::kPass ? base::Status{} : NamedErrno(error_number);
  }
  [[nodiscard]] base::Status NamedErrno(int error_number) const {
    return std::unexpected(Named(path_, PathError(error_number)));
  }

  // Appends a name to the path for the time of a visit.
  class Appended {
   public:
    Appended(std::string& path, const std::string& name) : path_(path), size_(path.size()) {
      if (!path_.empty()) path_ += '/';
      path_ += name;
    }
    Appended(const Appended&) = delete;
    Appended& operator=(const Appended&) = delete;
    ~Appended() { path_.resize(size_); }

   private:
    std::string& path_;
    std::size_t size_;
  };

  MountBorder border_;
  TreeVisitor& visitor_;
  WalkOptions options_;
  base::UniqueFd here_;
  std::string path_;  // of `here_`
  std::vector<Level> levels_;
  std::size_t waiting_ = 0;
};

}  // namespace

bool IsPrivateName(std::string_view name) {
  return name.starts_with(kPrivatePrefix);
}

base::Status WalkTree(int top, TreeVisitor& visitor, const WalkOptions& options) {
  return Walker(top, visitor, options).Run();
}

base::Result<base::UniqueFd> OpenAbove(int directory, const Facts& above) {
  base::UniqueFd fd(::openat(directory, "..", kDirectory));
  if (!fd.valid()) return PathErr();
  Facts facts{};
  if (!FactsAt(fd.get(), "", facts)) return PathErr();
  if (!SameThing(facts, above)) return base::Err(base::Code::kConflict, "was moved meanwhile");
  return fd;
}

}  // namespace skerry::workspace
