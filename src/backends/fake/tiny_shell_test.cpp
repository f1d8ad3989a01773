#include "backends/fake/tiny_shell.hpp"

#include <fcntl.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "backends/fake/fake_backend.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::backends::fake {
namespace {

namespace fs = std::filesystem;

// Tests give the fakes commands that nobody should run, also as root: whatever the text says, nothing outside the
// workspace is touched.
class TinyShellTest : public testing::Test {
 protected:
  TinyShellTest() {
    fs::create_directories(outer_.path() / "workspace");
    std::ofstream(outer_.path() / "victim") << "whole";
    auto place = std::make_shared<core::HostPlace>();
    place->path = outer_.path() / "workspace";
    place->fd.Reset(::open(place->path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    sandbox_ = backend_.Create({.workspace = std::move(place)}).value();
    EXPECT_TRUE(sandbox_->Start(base::Deadline::Never(), {}));
  }

  class NoSink : public core::OutputSink {
    core::SinkAnswer Write(core::Stream, std::string_view bytes, base::Deadline) override {
      return {.accepted = bytes.size()};
    }
  };
  int Run(const std::string& text) {
    NoSink sink;
    const auto ran = sandbox_->Execute({.program = core::Code{core::Language::kShell, text}}, sink, {});
    return ran ? ran->outcome.exit_code : -1;
  }

  support::TemporaryDirectory outer_;
  FakeBackend backend_;
  std::unique_ptr<core::Sandbox> sandbox_;
};

TEST_F(TinyShellTest, NothingOutsideOfTheWorkspaceIsTouched) {
  const std::string outside = outer_.path() / "victim";
  fs::create_symlink(outer_.path(), outer_.path() / "workspace/way");
  for (const std::string& text :
       {"rm -rf " + outside, std::string("rm -rf ../victim"), std::string("rm -rf ./../victim"),
        std::string("rm -rf way/victim"), std::string("rm -rf /workspace/../victim"), "echo gone > " + outside,
        std::string("echo gone > ../victim"), std::string("echo gone > way/victim"), "touch " + outside,
        std::string("mkdir ../made"), std::string("mkdir way/made")})
    EXPECT_NE(Run(text), 0) << text;
  EXPECT_EQ(fs::file_size(outer_.path() / "victim"), 5U);
  EXPECT_FALSE(fs::exists(outer_.path() / "made"));
  EXPECT_TRUE(fs::exists(outer_.path() / "workspace"));
}

TEST_F(TinyShellTest, ItsOwnFilesAreMadeReadAndRemoved) {
  EXPECT_EQ(Run("mkdir d; echo x > d/f; cat d/f"), 0);
  EXPECT_EQ(Run("rm -r /workspace/d"), 0);
  EXPECT_FALSE(fs::exists(outer_.path() / "workspace/d"));
}

}  // namespace
}  // namespace skerry::backends::fake
