#include "workspace/directory_listing.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "os/directory.hpp"
#include "workspace/path_errors.hpp"
#include "workspace/tree_walk.hpp"

namespace skerry::workspace {
namespace {

// The smallest names so far; the largest of them is on top.
class SmallestNames {
 public:
  explicit SmallestNames(std::size_t limit) : limit_(limit) {}

  void Add(std::string_view name) {
    if (page_.names.size() < limit_) {
      page_.names.emplace_back(name);
      std::ranges::push_heap(page_.names);
      return;
    }
    page_.more = true;
    if (page_.names.empty() || name >= page_.names.front()) return;
    std::ranges::pop_heap(page_.names);
    page_.names.back() = name;
    std::ranges::push_heap(page_.names);
  }

  NamePage Sorted() && {
    std::ranges::sort_heap(page_.names);
    return std::move(page_);
  }

 private:
  std::size_t limit_;
  NamePage page_;
};

}  // namespace

base::Result<NamePage> PageOf(base::UniqueFd directory, const std::string& after, std::size_t limit) {
  const os::Directory listing = os::ListingOf(std::move(directory));
  if (listing == nullptr) return PathErr();
  SmallestNames smallest(limit);
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(listing.get());
    if (entry == nullptr && errno != 0) return PathErr();
    if (entry == nullptr) return std::move(smallest).Sorted();
    const std::string_view name = entry->d_name;
    if (os::IsDots(name) || IsPrivateName(name) || name <= after) continue;
    smallest.Add(name);
  }
}

}  // namespace skerry::workspace
