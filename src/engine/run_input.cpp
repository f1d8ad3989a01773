#include "engine/run_input.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/sha256.hpp"

namespace skerry::engine {
namespace {

constexpr off_t kMostHashed = off_t{64} << 20U;

// /dev/null
bool IsNothing(const struct stat& facts) {
  constexpr unsigned kMemoryDevices = 1;
  constexpr unsigned kNull = 3;
  return S_ISCHR(facts.st_mode) && major(facts.st_rdev) == kMemoryDevices && minor(facts.st_rdev) == kNull;
}

// Calls `take` with piece after piece of a file of this size. False when it could not be read whole.
template <class Take>
bool ReadWhole(int fd, off_t size, const Take& take) {
  std::vector<char> buffer(std::size_t{64} << 10U);
  for (off_t at = 0; at < size;) {
    const auto wanted = std::min(buffer.size(), static_cast<std::size_t>(size - at));
    const ssize_t count = ::pread(fd, buffer.data(), wanted, at);
    if (count <= 0) return false;
    take(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
    at += count;
  }
  return true;
}

}  // namespace

RunInput InputOf(int fd) {
  if (fd < 0) return {};
  struct stat facts{};
  if (::fstat(fd, &facts) < 0) return {.known = false};
  if (IsNothing(facts)) return {};
  if (!S_ISREG(facts.st_mode) || facts.st_size > kMostHashed) return {.known = false};
  base::Sha256 hash;
  if (!ReadWhole(fd, facts.st_size, [&](std::string_view piece) { hash.Update(piece); })) return {.known = false};
  return {.bytes = static_cast<std::uint64_t>(facts.st_size), .sha256 = hash.FinishHex()};
}

std::optional<std::string> TextOfInput(int fd, std::size_t most) {
  if (fd < 0) return "";
  struct stat facts{};
  if (::fstat(fd, &facts) < 0) return std::nullopt;
  if (IsNothing(facts)) return "";
  if (!S_ISREG(facts.st_mode) || static_cast<std::uint64_t>(facts.st_size) > most) return std::nullopt;
  std::string text;
  if (!ReadWhole(fd, facts.st_size, [&](std::string_view piece) { text += piece; })) return std::nullopt;
  return text;
}

}  // namespace skerry::engine
