#include "workspace/leftovers.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string_view>

#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "os/own_directory.hpp"
#include "os/owned_name.hpp"
#include "workspace/beneath.hpp"
#include "workspace/persons_directory.hpp"

namespace skerry::workspace {
namespace {

constexpr std::string_view kPrefix = "commit-";
constexpr std::size_t kMaxListBytes = std::size_t{64} << 20U;

std::string IdentityOf(const struct stat& facts) {
  return std::to_string(facts.st_dev) + " " + std::to_string(facts.st_ino);
}

base::UniqueFd OpenDirectory(const std::string& path) {
  return base::UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

void RemovePrepared(int root, const std::string& path) {
  const auto place = FindPlace(root, path);
  if (!place || !place->entry || !place->name.starts_with(kPreparedPrefix)) return;
  (void)::unlinkat(place->parent.get(), place->name.c_str(), place->HoldsDirectory() ? AT_REMOVEDIR : 0);
}

// The text up to the next NUL; nothing when there is none: the last name was not written completely, and nothing was
// made under it.
std::optional<std::string> NextText(std::string_view& rest) {
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  std::string text(rest.substr(0, end));
  rest.remove_prefix(end + 1);
  return text;
}

void RemoveListed(std::string_view rest) {
  const auto identity = NextText(rest);
  const auto path = NextText(rest);
  if (!identity || !path) return;
  const base::UniqueFd root = OpenDirectory(*path);
  struct stat facts{};
  if (!root.valid() || ::fstat(root.get(), &facts) < 0 || IdentityOf(facts) != *identity) return;
  while (const auto name = NextText(rest)) RemovePrepared(root.get(), *name);
}

}  // namespace

LeftoverList::~LeftoverList() {
  if (!file_.valid()) return;
  (void)::unlink((lists_ + "/" + name_).c_str());
  (void)::rmdir(lists_.c_str());  // succeeds when that was the last list
}

base::Status LeftoverList::Open() {
  if (file_.valid()) return {};
  constexpr const char* kWhat = "note what is on its way";
  struct stat facts{};
  if (::fstat(root_, &facts) < 0) return os::ErrnoErr(kWhat);
  SKERRY_ASSIGN_OR_RETURN(const std::string path, PathOf(root_));
  SKERRY_ASSIGN_OR_RETURN(const base::UniqueFd lists, os::OpenOwnDirectory(lists_));
  name_ = os::OwnedName(kPrefix);
  file_.Reset(::openat(lists.get(), name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
  if (!file_.valid()) return os::ErrnoErr(kWhat);
  std::string head = IdentityOf(facts) + '\0' + path + '\0';
  return os::WriteAll(file_.get(), head);
}

base::Status LeftoverList::BeforePreparing(const std::string& path) {
  SKERRY_RETURN_IF_ERROR(Open());
  return os::WriteAll(file_.get(), path + '\0');
}

void SweepLeftovers(const std::string& lists) {
  base::UniqueFd directory = OpenDirectory(lists);
  if (!directory.valid()) return;
  const auto names = NamesIn(std::move(directory), 10'000);
  if (!names) return;
  for (const std::string& name : *names) {
    if (os::StateOfOwner(name, kPrefix) != os::OwnerState::kDead) continue;
    const std::string path = lists + "/" + name;
    if (const auto text = os::ReadFile(path, kMaxListBytes)) RemoveListed(*text);
    (void)::unlink(path.c_str());
  }
  (void)::rmdir(lists.c_str());
}

}  // namespace skerry::workspace
