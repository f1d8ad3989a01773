#include "os/spawn.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include <gtest/gtest.h>

#include "os/pipe.hpp"

namespace skerry::os {
namespace {

// The output of a shell with this text, and its exit code.
std::pair<std::string, int> ShellSays(const std::string& text, Lead lead, const std::vector<std::string>& environment) {
  Pipe pipe = Pipe::Create().value();
  SpawnPlan plan(lead);
  plan.PlaceNull(STDIN_FILENO);
  plan.Place(pipe.write_end.get(), STDOUT_FILENO);
  const pid_t pid = plan.Spawn("/bin/sh", {"sh", "-c", text}, environment).value();
  pipe.write_end.Reset();
  int status = 0;
  ::waitpid(pid, &status, 0);
  std::array<char, 256> buffer{};
  const ssize_t size = ::read(pipe.read_end.get(), buffer.data(), buffer.size());
  return {std::string(buffer.data(), static_cast<std::size_t>(size)), WEXITSTATUS(status)};
}

TEST(SpawnTest, TheProgramGetsItsDescriptorsArgumentsAndEnvironment) {
  EXPECT_EQ(ShellSays("cat; echo $A; exit 3", Lead::kGroup, {"A=b", "PATH=/usr/bin:/bin"}),
            std::pair(std::string("b\n"), 3));
}

TEST(SpawnTest, TheProgramLeadsItsGroupOrItsSession) {
  const std::string fields =
      "read -r a b c d group session rest < /proc/self/stat; echo $((group == $$)) $((session == $$))";
  EXPECT_EQ(ShellSays(fields, Lead::kGroup, {}).first, "1 0\n");
  EXPECT_EQ(ShellSays(fields, Lead::kSession, {}).first, "1 1\n");
}

TEST(SpawnTest, NoSignalIsIgnored) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(ShellSays("kill -PIPE $$; echo alive", Lead::kGroup, {}).first, "");
  std::signal(SIGPIPE, before);
}

TEST(SpawnTest, AProgramThatIsNotThereIsAnError) {
  EXPECT_EQ(SpawnPlan(Lead::kGroup).Spawn("/nonexistent", {"x"}).error().code, base::Code::kNotFound);
}

}  // namespace
}  // namespace skerry::os
