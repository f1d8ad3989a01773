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
      : border_(top), visitor_(visitor), options_(options), top_(top) {}

  base::Status Run() {
    base::UniqueFd top(::openat(top_, ".", kDirectory));
    if (!top.valid()) return PathErr();
    Facts facts{};
    if (!FactsAt(top.get(), "", facts)) return PathErr();
    SKERRY_RETURN_IF_ERROR(List(std::move(top), facts));
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

  // Visits the entries of a directory that was just opened, and remembers its directories. One that has any becomes
  // `here_`; one that has none is through.
  base::Status List(base::UniqueFd directory, const Facts& facts) {
    levels_.push_back({facts, {}, path_.size()});
    const os::Directory listing = os::ListingOf(std::move(directory));
    if (listing == nullptr) return NamedErrno(errno);
    const int handle = ::dirfd(listing.get());
    for (;;) {
      errno = 0;
      const dirent* entry = ::readdir(listing.get());
      if (entry == nullptr && errno != 0) return NamedErrno(errno);
      if (entry == nullptr) break;
      if (os::IsDots(entry->d_name)) continue;
      if (options_.private_names == WalkOptions::Private::kPass && IsPrivateName(entry->d_name)) continue;
      SKERRY_RETURN_IF_ERROR(Take(handle, entry->d_name));
    }
    if (levels_.back().waiting.empty()) return Leave();
    here_.Reset();  // so that there are never more than two
    here_.Reset(::fcntl(handle, F_DUPFD_CLOEXEC, 0));
    return here_.valid() ? base::Status{} : NamedErrno(errno);
  }

  base::Status Take(int directory, const std::string& name) {
    Facts facts{};
    const Appended appended(path_, name);
    if (!FactsAt(directory, name.c_str(), facts)) return errno == ENOENT ? base::Status{} : Obstacle(errno);
    if (!border_.Holds(facts)) return Obstacle(EXDEV);
    if (!IsDirectory(facts)) return visitor_.Visit({directory, name, path_, facts});
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
    return List(std::move(next), facts);
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
    if (levels_.size() > 1) {
      const Level& upper = levels_[levels_.size() - 2];
      auto above = OpenAbove(here_.get(), upper.facts);
      if (!above) return std::unexpected(Named(path_.substr(0, upper.path_size), std::move(above).error()));
      here_ = std::move(*above);
    }
    return Leave();
  }

  base::Status Leave() {
    levels_.pop_back();
    if (levels_.empty()) return {};
    path_.resize(levels_.back().path_size);
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
  int top_;
  base::UniqueFd here_;  // the lowest directory with directories that wait
  std::string path_;
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
