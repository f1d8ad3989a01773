#include "workspace/layer_memory.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/unique_fd.hpp"

namespace skerry::workspace {
namespace {

using Paths = std::vector<std::string>;

constexpr std::size_t kPage = 4096;

// A mapping of a file of the layer, as a program has it: stores go to the file.
class Mapping {
 public:
  Mapping(const std::filesystem::path& file, int flags) {
    const base::UniqueFd fd(::open(file.c_str(), O_RDWR | O_CLOEXEC | flags));
    bytes_ = static_cast<char*>(::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0));
    if (bytes_ == MAP_FAILED) ADD_FAILURE() << "mmap";
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { ::munmap(bytes_, kPage); }
  // Reads first, as a computation on an array does.
  void Increment() {
    volatile char* const byte = bytes_;
    const char before = *byte;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    *byte = static_cast<char>(before + 1);
  }

 private:
  char* bytes_ = nullptr;
};

// On a tmpfs, as the layer is: other file systems update times for stores through mappings.
class LayerMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    struct statfs facts{};
    if (::statfs("/dev/shm", &facts) != 0 || facts.f_type != TMPFS_MAGIC) GTEST_SKIP() << "no tmpfs at /dev/shm";
    std::string name = "/dev/shm/skerry-test-XXXXXX";
    root_ = ::mkdtemp(name.data());
    fd_.Reset(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    std::ofstream(root_ / "file") << std::string(kPage, 'a');
  }
  void TearDown() override {
    if (!root_.empty()) std::filesystem::remove_all(root_);
  }

  // The entries of the layer that count as changed now.
  Paths Told() {
    auto found = ReadOverlayChanges(fd_.get(), {});
    if (!found) return {found.error().message};
    memory_.Compare(fd_.get(), *found);
    Paths told;
    for (const Change& change : found->changes)
      told.push_back((change.kind == ChangeKind::kDeletion ? "-" : "") + change.path);
    return told;
  }
  // The same after a while, when times tell new changes from old ones.
  Paths ToldWhenSettled() {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return Told();
  }

  std::filesystem::path root_;
  base::UniqueFd fd_;
  LayerMemory memory_;
};

TEST_F(LayerMemoryTest, WhatIsAsItWasIsDropped) {
  EXPECT_EQ(ToldWhenSettled(), Paths({"file"}));
  EXPECT_EQ(Told(), Paths());
  std::ofstream(root_ / "file") << std::string(kPage, 'b');
  EXPECT_EQ(Told(), Paths({"file"}));
}

TEST_F(LayerMemoryTest, WhatIsGoneIsADeletion) {
  EXPECT_EQ(ToldWhenSettled(), Paths({"file"}));
  std::filesystem::remove(root_ / "file");
  EXPECT_EQ(Told(), Paths({"-file"}));
  EXPECT_EQ(Told(), Paths());
}

TEST_F(LayerMemoryTest, WhatAMappingThatWasThereStoresIsSeen) {
  Mapping mapping(root_ / "file", O_NOATIME);
  mapping.Increment();
  EXPECT_EQ(ToldWhenSettled(), Paths({"file"}));
  EXPECT_EQ(Told(), Paths());
  for (int i = 0; i < 3; ++i) {
    mapping.Increment();
    EXPECT_EQ(ToldWhenSettled(), Paths({"file"})) << i;
    EXPECT_EQ(Told(), Paths()) << i;
  }
}

TEST_F(LayerMemoryTest, WhatItStoredBeforeItWentIsSeen) {
  EXPECT_EQ(ToldWhenSettled(), Paths({"file"}));
  {
    Mapping mapping(root_ / "file", O_NOATIME);
    EXPECT_EQ(ToldWhenSettled(), Paths());
    memory_.ForgetAccesses();
    EXPECT_EQ(Told(), Paths());
    mapping.Increment();
  }
  EXPECT_EQ(Told(), Paths({"file"}));
}

TEST_F(LayerMemoryTest, OneOfTwoNamesOfAFileThatIsStoredToMeansBoth) {
  std::filesystem::create_hard_link(root_ / "file", root_ / "same");
  Mapping mapping(root_ / "file", O_NOATIME);
  EXPECT_EQ(ToldWhenSettled(), Paths({"file", "same"}));
  mapping.Increment();
  EXPECT_EQ(Told(), Paths({"file", "same"}));
}

// A file without a new access time is not read: an untouched layer costs little. The last look reads all files.
TEST_F(LayerMemoryTest, OnlyWhatShowsASignIsReadUntilAccessesAreForgotten) {
  EXPECT_EQ(ToldWhenSettled(), Paths({"file"}));
  EXPECT_EQ(ToldWhenSettled(), Paths());
  Mapping(root_ / "file", O_NOATIME).Increment();
  EXPECT_EQ(Told(), Paths());
  memory_.ForgetAccesses();
  EXPECT_EQ(Told(), Paths({"file"}));
}

TEST_F(LayerMemoryTest, HolesAreNotRead) {
  constexpr off_t kLong = off_t{1} << 42;  // days of reading
  const base::UniqueFd fd(::open((root_ / "holes").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  ASSERT_EQ(::ftruncate(fd.get(), kLong), 0);
  ASSERT_EQ(::pwrite(fd.get(), "x", 1, kLong - 1), 1);
  EXPECT_EQ(ToldWhenSettled(), Paths({"file", "holes"}));
  EXPECT_EQ(Told(), Paths());
  ASSERT_EQ(::pwrite(fd.get(), "y", 1, kLong / 2), 1);
  EXPECT_EQ(Told(), Paths({"holes"}));
}

}  // namespace
}  // namespace skerry::workspace
