// A program inside swaps names for links that lead out, all the time, while threads work from outside. Whatever the
// order, nothing outside is read or changed.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "os/files.hpp"
#include "workspace/workspace_fixture.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;

class WorkspaceRaceTest : public testing::TestWithParam<Resolver::Way> {
 protected:
  static constexpr int kTries = 20'000;
  static constexpr int kSlowTries = 10'000;
  static constexpr std::size_t kLimit = 1U << 20U;
  static constexpr const char* kSecret = "the secret of the host";

  // "door" and "key" are the names that the agent uses. Their twins are links to the same names outside.
  WorkspaceRaceTest() {
    for (const char* name : {"root/door/tree", "root/p/q", "stage", "outside/tree"})
      fs::create_directories(top_ / name);
    for (const char* name : {"root/door/f", "root/door/victim", "root/key", "root/f"}) Put(name, "inside");
    for (const char* name : {"outside/f", "outside/victim", "outside/tree/f", "outside/hidden", "f"})
      Put(name, kSecret);
    fs::create_symlink(top_ / "outside", top_ / "root/door.twin");
    fs::create_symlink("../outside/f", top_ / "root/key.twin");
    before_ = Outside();
  }

  void Put(const std::string& path, const std::string& bytes) const { std::ofstream(top_ / path) << bytes; }
  static base::UniqueFd DirectoryFd(const fs::path& path) {
    return base::UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }

  // All files outside, with content, mode and times.
  [[nodiscard]] std::map<std::string, std::string> Outside() const {
    std::map<std::string, std::string> found;
    const auto add = [&](const fs::path& path) {
      struct stat facts{};
      ::lstat(path.c_str(), &facts);
      std::ifstream file(path, std::ios::binary);
      found[path] = std::to_string(facts.st_mode) + " " + std::to_string(facts.st_ino) + " " +
                    std::to_string(facts.st_nlink) + " " + std::to_string(facts.st_mtim.tv_nsec) + " " +
                    std::to_string(facts.st_ctim.tv_nsec) + " " + std::to_string(facts.st_uid) + " " +
                    (S_ISREG(facts.st_mode) ? std::string(std::istreambuf_iterator<char>(file), {}) : "");
    };
    for (const fs::path& path : {top_ / "f", top_ / "outside"}) add(path);
    for (const auto& entry : fs::recursive_directory_iterator(top_ / "outside")) add(entry.path());
    return found;
  }

  using Swap = std::function<void(int root)>;
  static Swap Exchange(const std::string& a, const std::string& b) {
    return [=](int root) { (void)::renameat2(root, a.c_str(), root, b.c_str(), RENAME_EXCHANGE); };
  }
  using Counts = std::map<std::string, int>;

  // Swaps until all tries of `work` are done. `work` gives a result to count; two threads call it.
  Counts Race(int tries, const Swap& swap, const std::function<std::string(int)>& work) {
    std::atomic<bool> over = false;
    std::atomic<int> next = 0;
    Counts counts;
    std::mutex mutex;
    std::thread swapper([&] {
      const base::UniqueFd root = DirectoryFd(top_ / "root");
      while (!over) swap(root.get());
    });
    std::vector<std::thread> workers;
    for (int worker = 0; worker < 2; ++worker)
      workers.emplace_back([&] {
        std::map<std::string, int> own;
        for (int tried = next++; tried < tries; tried = next++) ++own[work(tried)];
        const std::scoped_lock lock(mutex);
        for (const auto& [result, count] : own) counts[result] += count;
      });
    for (std::thread& worker : workers) worker.join();
    over = true;
    swapper.join();
    return counts;
  }

  // Nothing came through, nothing outside is different, and both results did occur: there was a race.
  void ExpectHeld(const Counts& counts) {
    std::string summary;
    int refused = 0;
    for (const auto& [result, count] : counts) {
      summary += result + " " + std::to_string(count) + ", ";
      refused += result == "ok" || result == "made" ? 0 : count;
      EXPECT_TRUE(!result.starts_with("internal") && result != "unavailable") << result;
    }
    RecordProperty("outcomes", summary);
    EXPECT_FALSE(counts.contains("LEAK")) << summary;
    EXPECT_TRUE(counts.contains("ok")) << "it never succeeded, so there was no race: " << summary;
    EXPECT_GT(refused, 0) << "it was never refused, so there was no race: " << summary;
    EXPECT_EQ(Outside(), before_) << summary;
  }

  // "ok", the code, or that something from outside came through.
  static std::string Checked(const base::Result<std::string>& bytes) {
    if (bytes && bytes->find(kSecret) != std::string::npos) return "LEAK";
    return CodeOf(bytes);
  }

  ScratchDirectory directory_{ScratchDirectory::On::kMemory};
  fs::path top_ = directory_.path();
  AgentWorkspace files_{DirectoryFd(top_ / MakeRoot()), DirectoryFd(top_ / "stage"), {.way = GetParam()}};
  std::map<std::string, std::string> before_;

 private:
  [[nodiscard]] const char* MakeRoot() const {
    for (const char* name : {"root", "stage"}) fs::create_directory(top_ / name);
    return "root";
  }
};
SKERRY_BOTH_WAYS(WorkspaceRaceTest);

// The control: so the other tests would look if they failed.
TEST_P(WorkspaceRaceTest, APlainOpenIsLedOut) {
  const base::UniqueFd root = DirectoryFd(top_ / "root");
  const Counts counts = Race(kTries, Exchange("door", "door.twin"), [&](int) {
    const base::UniqueFd fd(::openat(root.get(), "door/f", O_RDONLY | O_CLOEXEC));
    return fd.valid() ? Checked(os::ReadAll(fd.get(), kLimit)) : "missing";
  });
  EXPECT_TRUE(counts.contains("LEAK"));
  EXPECT_TRUE(counts.contains("ok"));
}

TEST_P(WorkspaceRaceTest, ReadThroughASwappedDirectory) {
  ExpectHeld(
      Race(kTries, Exchange("door", "door.twin"), [&](int) { return Checked(files_.Read("door/f", {}, kLimit)); }));
}

TEST_P(WorkspaceRaceTest, ReadOfASwappedFile) {
  ExpectHeld(Race(kTries, Exchange("key", "key.twin"), [&](int) { return Checked(files_.Read("key", {}, kLimit)); }));
}

TEST_P(WorkspaceRaceTest, ReadUpOutOfADirectoryThatMovesUp) {
  // p/q/../../f is the file of the workspace. While q lies in the root, ../.. of it is outside.
  const Swap move = [](int root) {
    (void)::renameat(root, "p/q", root, "q");
    (void)::renameat(root, "q", root, "p/q");
  };
  ExpectHeld(Race(kTries, move, [&](int tried) {
    return Checked(files_.Read(tried % 2 == 0 ? "p/q/../../f" : "p/q/../../door/../f", {}, kLimit));
  }));
}

TEST_P(WorkspaceRaceTest, ListOfASwappedDirectory) {
  ExpectHeld(Race(kTries, Exchange("door", "door.twin"), [&](int) -> std::string {
    const auto listing = files_.List("door", {});
    if (!listing) return CodeOf(listing);
    for (const Entry& entry : listing->entries)
      if (entry.path == "door/hidden") return "LEAK";
    return "ok";
  }));
}

TEST_P(WorkspaceRaceTest, WriteThroughASwappedDirectory) {
  ExpectHeld(Race(kTries, Exchange("door", "door.twin"), [&](int tried) {
    return CodeOf(files_.Write(tried % 2 == 0 ? "door/f" : "door/new", "from the agent"));
  }));
}

TEST_P(WorkspaceRaceTest, WriteWithMissingParents) {
  ExpectHeld(Race(kTries, Exchange("door", "door.twin"), [&](int tried) {
    const std::string path = "door/made" + std::to_string(tried % 8);
    if (tried % 4 == 0) return CodeOf(files_.Delete(path, Depth::kAll));
    return CodeOf(files_.Write(path + "/x/f", "from the agent"));
  }));
}

TEST_P(WorkspaceRaceTest, WriteOfASwappedFile) {
  // The write replaces a link in the place of the file, so a new link has to be made all the time.
  const Swap swap = [](int root) {
    (void)::symlinkat("../outside/f", root, "key.twin");
    (void)::renameat2(root, "key", root, "key.twin", RENAME_EXCHANGE);
    (void)::renameat2(root, "key", root, "key.twin", RENAME_EXCHANGE);
    (void)::unlinkat(root, "key.twin", 0);
  };
  ExpectHeld(Race(kSlowTries, swap, [&](int) { return CodeOf(files_.Write("key", "from the agent")); }));
}

TEST_P(WorkspaceRaceTest, AppendThroughASwappedDirectory) {
  ExpectHeld(Race(kTries, Exchange("door", "door.twin"), [&](int tried) {
    return CodeOf(tried % 200 == 0 ? files_.Write("door/f", "") : files_.Append("door/f", "more"));
  }));
}

TEST_P(WorkspaceRaceTest, AppendToASwappedFile) {
  ExpectHeld(Race(kSlowTries, Exchange("key", "key.twin"), [&](int) { return CodeOf(files_.Append("key", "+")); }));
}

TEST_P(WorkspaceRaceTest, DeleteThroughASwappedDirectory) {
  ExpectHeld(Race(kTries, Exchange("door", "door.twin"), [&](int tried) {
    if (tried % 4 == 0) return CodeOf(files_.Delete("door/victim", Depth::kOne));
    if (tried % 4 == 1) return CodeOf(files_.Write("door/victim", "again"));
    if (tried % 4 == 2) return CodeOf(files_.Delete("door/tree", Depth::kAll));
    return CodeOf(files_.Write("door/tree/f", "again"));
  }));
}

TEST_P(WorkspaceRaceTest, DeleteOfATreeInWhichNamesAreSwapped) {
  const fs::path inner = top_ / "root/tree/inner";
  for (int round = 0; round < 100; ++round) {
    fs::create_directories(inner / "a/b");
    fs::create_directory_symlink(top_ / "outside", inner / "a.twin");
    // Held open, as by a program with its working directory there: moving the tree away does not stop the swaps.
    const base::UniqueFd held = DirectoryFd(inner);
    std::atomic<int> swaps = 0;
    std::jthread swapper([&](const std::stop_token& over) {
      for (; !over.stop_requested(); ++swaps) (void)::renameat2(held.get(), "a", held.get(), "a.twin", RENAME_EXCHANGE);
    });
    while (swaps < 10) std::this_thread::yield();
    const auto deleted = files_.Delete("tree", Depth::kAll);
    ASSERT_TRUE(deleted) << deleted.error().message;
    ASSERT_EQ(Outside(), before_) << "in round " << round;
  }
  EXPECT_TRUE(fs::is_empty(top_ / "stage"));
}

TEST_P(WorkspaceRaceTest, CopyAndMoveThroughSwaps) {
  ExpectHeld(Race(kSlowTries, Exchange("door", "door.twin"), [&](int tried) -> std::string {
    const std::string copy = "copy" + std::to_string(tried % 3);
    if (tried % 3 == 0) (void)files_.Delete(copy, Depth::kAll);
    const auto copied = files_.Copy(tried % 2 == 0 ? "door/f" : "door", copy, Existing::kReplace);
    if (copied && (Checked(files_.Read(copy, {}, kLimit)) == "LEAK" || files_.Stat(copy + "/hidden"))) return "LEAK";
    if (tried % 5 == 0) (void)files_.Move(copy, "door/moved", Existing::kReplace);
    return CodeOf(copied);
  }));
}

}  // namespace
}  // namespace skerry::workspace
