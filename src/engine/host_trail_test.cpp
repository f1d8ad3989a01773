#include "engine/host_trail.hpp"

#include <fcntl.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/unique_fd.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::engine {
namespace {

namespace fs = std::filesystem;
using testing::Contains;

class HostTrailTest : public testing::Test {
 protected:
  HostTrailTest() { fs::create_directories(base_ / "work/in/side"); }

  Trail Follow(const fs::path& path) const {
    const base::UniqueFd root(::open((base_ / "work").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return HostTrails(root.get()).Follow(path.string());
  }

  support::TemporaryDirectory directory_;
  fs::path base_ = fs::canonical(directory_.path());
};

TEST_F(HostTrailTest, PathsComeBackIntoTheWorkspace) {
  fs::create_directory_symlink("work", base_ / "other");
  fs::create_directory_symlink("in/side", base_ / "work/link");
  fs::create_directory_symlink(base_ / "work/in", base_ / "absolute");
  for (const char* path : {"work/in/side", "work/./in//side/", "work/../work/in/side", "other/in/side", "work/link",
                           "absolute/side", "nowhere/../work/in/side"})
    EXPECT_EQ(Follow(base_ / path).place, "in/side") << path;
  EXPECT_EQ(Follow(base_ / "other").place, "");
  EXPECT_EQ(Follow(base_ / "work/in/later/hooks").place, "in/later/hooks");
  for (const char* path : {"", "workshop", "work/..", "outside"})
    EXPECT_EQ(Follow(base_ / path).place, std::nullopt) << path;
}

TEST_F(HostTrailTest, TheWayIsTold) {
  fs::create_directory_symlink("in", base_ / "work/first");
  fs::create_directory_symlink("../../outside", base_ / "work/in/out");
  const Trail trail = Follow(base_ / "work/first/out/x");
  EXPECT_EQ(trail.end, (base_ / "outside/x").string());
  EXPECT_EQ(trail.place, std::nullopt);
  for (const char* step : {"first", "in", "in/out"}) EXPECT_THAT(trail.steps, Contains(step));
}

TEST_F(HostTrailTest, ALinkToItselfEnds) {
  fs::create_symlink("self", base_ / "work/self");
  EXPECT_EQ(Follow(base_ / "work/self/x").place, "self/x");
}

}  // namespace
}  // namespace skerry::engine
