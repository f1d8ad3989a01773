#include "engine/code_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "engine/python_library.hpp"
#include "os/directory.hpp"
#include "os/files.hpp"
#include "workspace/beneath.hpp"

namespace skerry::engine {
namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 20U;  // of all files together
// These also bound the memory of the answers that are remembered.
constexpr std::uint64_t kUnitsOfALook = 8;
constexpr std::uint64_t kBytesOfAUnit = 16;
constexpr std::uint64_t kBytesOfAUnitAgain = 64;  // for an answer that is remembered

bool IsOfPython(std::string_view name) {
  return name.ends_with(".py") || name.ends_with(".pyc") || name.ends_with(".so") || IsPythonLibrary(name);
}

}  // namespace

const CodeFiles::Entry& CodeFiles::At(const std::string& path) {
  static const Entry kNothing;
  if (const auto known = entries_.find(path); known != entries_.end())
    return budget_.Spend(1 + path.size() / kBytesOfAUnitAgain) ? known->second : kNothing;
  if (workspace_ < 0 || !budget_.Spend(kUnitsOfALook + path.size() / kBytesOfAUnit)) return kNothing;
  InsideFile found = OpenInside(workspace_, path, budget_);
  Entry entry;
  struct stat facts{};
  if (found.handle.valid() && ::fstat(found.handle.get(), &facts) == 0)
    entry = {.type = facts.st_mode & S_IFMT, .device = facts.st_dev, .inode = facts.st_ino};
  if (found.path != path && budget_.Spend(found.path.size() / kBytesOfAUnit)) entry.real = std::move(found.path);
  if (budget_.IsOver()) return kNothing;
  return entries_.emplace(path, std::move(entry)).first->second;
}

bool CodeFiles::HasFile(const std::string& path) {
  return !path.empty() && At(path).type == S_IFREG;
}

bool CodeFiles::HasDirectory(const std::string& path) {
  return At(path).type == S_IFDIR;
}

std::string CodeFiles::RealPath(const std::string& path) {
  const Entry& entry = At(path);
  return entry.real.empty() ? path : entry.real;
}

std::optional<struct stat> CodeFiles::FactsOf(const std::string& path) {
  const InsideFile found = OpenInside(workspace_, path, budget_);
  struct stat facts{};
  if (!found.handle.valid() || ::fstat(found.handle.get(), &facts) != 0) return std::nullopt;
  return facts;
}

base::UniqueFd CodeFiles::Open(const std::string& path) {
  if (!budget_.Spend(kUnitsOfALook)) return {};
  const InsideFile found = OpenInside(workspace_, path, budget_);
  if (!found.handle.valid()) return {};
  return workspace::OpenAgain(found.handle.get(), O_RDONLY | O_NONBLOCK);
}

// By ".", which is quicker than by the handle's name in /proc. One that may be listed but not entered has only that.
base::UniqueFd CodeFiles::OpenDirectory(const std::string& path) {
  if (!budget_.Spend(kUnitsOfALook)) return {};
  const InsideFile found = OpenInside(workspace_, path, budget_);
  if (!found.handle.valid()) return {};
  constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_DIRECTORY;
  base::UniqueFd listing(::openat(found.handle.get(), ".", kFlags | O_CLOEXEC));
  return listing.valid() ? std::move(listing) : workspace::OpenAgain(found.handle.get(), kFlags);
}

std::optional<std::string> CodeFiles::Read(const std::string& path, std::size_t most) {
  const base::UniqueFd file = Open(path);
  struct stat facts{};
  if (!file.valid() || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  if (facts.st_size > static_cast<off_t>(most)) return std::nullopt;
  auto text = os::ReadAll(file.get(), most);
  if (!text) return std::nullopt;
  bytes_ += text->size();
  if (bytes_ > kMostBytes) return std::nullopt;
  return *std::move(text);
}

const CodeFiles::Names* CodeFiles::NamesOf(const std::string& directory) {
  const Entry& entry = At(directory);
  if (entry.type != S_IFDIR) return nullptr;
  const auto [names, is_new] = names_.try_emplace({entry.device, entry.inode});
  if (is_new) {
    base::UniqueFd listing = OpenDirectory(directory);
    if (listing.valid() && !List(std::move(listing), names->second)) names->second.clear();
    std::ranges::sort(names->second);
  }
  return &names->second;
}

bool CodeFiles::List(base::UniqueFd directory, Names& names) {
  const os::Directory listing = os::ListingOf(std::move(directory));
  if (listing == nullptr) return true;
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    if (!budget_.Spend(1)) return false;
    if (!IsOfPython(name)) continue;
    if (!budget_.Spend(kUnitsOfALook + name.size() / kBytesOfAUnit)) return false;
    names.emplace_back(name);
  }
  return true;
}

}  // namespace skerry::engine
