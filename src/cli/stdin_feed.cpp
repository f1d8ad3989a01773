#include "cli/stdin_feed.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "os/files.hpp"

namespace skerry::cli {
namespace {

// /dev/null
bool IsNothing(const struct stat& facts) {
  constexpr unsigned kMemoryDevices = 1;
  constexpr unsigned kNull = 3;
  return S_ISCHR(facts.st_mode) && major(facts.st_rdev) == kMemoryDevices && minor(facts.st_rdev) == kNull;
}

engine::RunInput InputOf(int fd) {
  constexpr off_t kMost = off_t{64} << 20U;
  struct stat facts{};
  if (fd < 0 || ::fstat(fd, &facts) < 0 || IsNothing(facts)) return {};
  if (S_ISREG(facts.st_mode) && facts.st_size <= kMost)
    if (auto text = os::ReadAll(fd, kMost)) return {.text = *std::move(text)};
  return {.end = core::InputEnd::kOpen};
}

}  // namespace

StdinFeed::StdinFeed(int fd)
    : fd_(fd),
      input_(InputOf(fd)),
      controls_(input_.IsKnown() ? engine::RunControls::Input::kNone : engine::RunControls::Input::kFed) {}

void StdinFeed::Begin() {
  if (!input_.IsKnown()) pump_.emplace(fd_, engine::InputPump::To(controls_));
}

}  // namespace skerry::cli
