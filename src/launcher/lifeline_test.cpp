#include "launcher/lifeline.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include "os/pipe.hpp"

namespace skerry::launcher {
namespace {

namespace fs = std::filesystem;

bool HasEnded(int end, int milliseconds) {
  pollfd entry{.fd = end, .events = POLLIN};
  return ::poll(&entry, 1, milliseconds) == 1 && (entry.revents & POLLHUP) != 0;
}

// The descriptors of the thread that holds the lifeline.
std::vector<std::string> DescriptorsOfTheHolder() {
  std::vector<std::string> targets;
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name != "lifeline") continue;
    for (const auto& fd : fs::directory_iterator(task.path() / "fd")) targets.push_back(fs::read_symlink(fd.path()));
  }
  return targets;
}

TEST(LifelineTest, EndsWithItsObject) {
  auto lifeline = Lifeline::Begin();
  ASSERT_TRUE(lifeline.has_value()) << lifeline.error().message;
  const base::UniqueFd watched(::dup((*lifeline)->end()));
  EXPECT_FALSE(HasEnded(watched.get(), 0));
  lifeline->reset();
  EXPECT_TRUE(HasEnded(watched.get(), 0));
}

TEST(LifelineTest, OnlyItsThreadHasTheOtherEnd) {
  const auto lifeline = Lifeline::Begin();
  ASSERT_TRUE(lifeline.has_value()) << lifeline.error().message;
  const std::string pipe = fs::read_symlink("/proc/self/fd/" + std::to_string((*lifeline)->end()));
  EXPECT_EQ(DescriptorsOfTheHolder(), std::vector{pipe});
  int ends = 0;
  for (const auto& fd : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the iterator's own
    ends += fs::read_symlink(fd.path(), gone) == pipe ? 1 : 0;
  }
  EXPECT_EQ(ends, 1);
}

TEST(LifelineTest, EndsWithAProcessThatIsKilled) {
  auto pipe = os::Pipe::Create();
  ASSERT_TRUE(pipe.has_value());
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lifeline = Lifeline::Begin();
    // The end to watch goes to the parent by its number: the parent opens it below /proc.
    const int end = lifeline ? (*lifeline)->end() : -1;
    (void)!::write(pipe->write_end.get(), &end, sizeof end);
    for (;;) ::pause();
  }
  int end = -1;
  ASSERT_EQ(::read(pipe->read_end.get(), &end, sizeof end), static_cast<ssize_t>(sizeof end));
  const std::string path = "/proc/" + std::to_string(child) + "/fd/" + std::to_string(end);
  const base::UniqueFd watched(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  EXPECT_TRUE(watched.valid());
  EXPECT_FALSE(HasEnded(watched.get(), 0));
  ::kill(child, SIGKILL);
  EXPECT_TRUE(HasEnded(watched.get(), 5000));
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

}  // namespace
}  // namespace skerry::launcher
