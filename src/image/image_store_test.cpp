#include "image/image_store.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/error_of.hpp"
#include "image/image_builder.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::image {
namespace {

using archive::ArchiveBuilder;
using archive::CodeOf;
using archive::MessageOf;
using archive::WriteFile;

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class ImageStoreTest : public testing::Test {
 protected:
  ImageStoreTest() : store_(*ImageStore::Open(path_.string())) {
    WriteFile(One(), ArchiveBuilder().File("bin/one", "one").Build());
    WriteFile(Two(), ArchiveBuilder().File("bin/two", "two").Build());
  }

  base::Result<Image> Import(const std::string& name, const std::string& path, ProgressSink* sink = nullptr) {
    return store_.Import(name, path, {}, sink);
  }
  [[nodiscard]] std::string One() const { return directory_.path() / "one.tar"; }
  [[nodiscard]] std::string Two() const { return directory_.path() / "two.tar"; }

  [[nodiscard]] std::vector<std::string> Names() const {
    std::vector<std::string> names;
    const auto images = store_.List();
    if (!images) return {images.error().message};
    for (const Image& image : *images) names.push_back(image.name);
    return names;
  }
  [[nodiscard]] std::size_t Trees() const { return Count(path_ / "trees"); }
  // The number of entries besides the lock, the names and the trees.
  [[nodiscard]] std::size_t Left() const { return Count(path_) - 3; }
  static std::size_t Count(const fs::path& path) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }

  support::TemporaryDirectory directory_;
  fs::path path_ = directory_.path() / "a/images";
  ImageStore store_;
};

TEST_F(ImageStoreTest, IsMadeForItsOwnerOnly) {
  for (const char* part : {"", "names", "trees"})
    EXPECT_EQ(fs::status(path_ / part).permissions(), fs::perms::owner_all) << part;
}

TEST_F(ImageStoreTest, AnImportedImageIsListedAndCanBeUsed) {
  const auto image = Import("team/one:1", One());
  ASSERT_TRUE(image.has_value()) << image.error().message;
  EXPECT_EQ(image->size, 3U);
  EXPECT_THAT(Names(), ElementsAre("team/one:1"));
  const auto lease = store_.Acquire("team/one:1");
  ASSERT_TRUE(lease.has_value()) << lease.error().message;
  EXPECT_TRUE(fs::exists(lease->root_path + "/bin/one"));
  EXPECT_EQ(::faccessat(lease->root_fd.get(), "bin/one", F_OK, 0), 0);
  EXPECT_EQ(Left(), 0U);
}

TEST_F(ImageStoreTest, AnImageBringsItsSettings) {
  LayoutBuilder layout;
  layout.Index({layout.Manifest({ArchiveBuilder().File("f").Build()})});
  WriteFile(directory_.path() / "oci.tar", layout.Archive());
  ASSERT_TRUE(Import("oci", directory_.path() / "oci.tar").has_value());
  const auto lease = store_.Acquire("oci");
  EXPECT_THAT(lease->environment, ElementsAre("PATH=/bin", "LANG=C"));
  EXPECT_EQ(lease->working_directory, "/srv");
}

TEST_F(ImageStoreTest, TheSameContentIsThereOnce) {
  ASSERT_TRUE(Import("a", One()).has_value());
  ASSERT_TRUE(Import("b", One()).has_value());
  EXPECT_THAT(Names(), ElementsAre("a", "b"));
  EXPECT_EQ(Trees(), 1U);
  EXPECT_EQ(Left(), 0U);
  EXPECT_EQ(store_.Remove("a"), TreeFate::kKeptForOtherName);
  EXPECT_TRUE(store_.Acquire("b").has_value());
  EXPECT_EQ(store_.Remove("b"), TreeFate::kRemoved);
  EXPECT_EQ(Trees(), 0U);
}

TEST_F(ImageStoreTest, ImportingANameAgainMovesIt) {
  ASSERT_TRUE(Import("a", One()).has_value());
  ASSERT_TRUE(Import("a", Two()).has_value());
  EXPECT_THAT(Names(), ElementsAre("a"));
  EXPECT_TRUE(fs::exists(store_.Acquire("a")->root_path + "/bin/two"));
  EXPECT_EQ(Trees(), 1U);
}

TEST_F(ImageStoreTest, ATreeInUseStaysUntilItsLastUserEnded) {
  ASSERT_TRUE(Import("a", One()).has_value());
  std::optional<ImageLease> first = std::move(*store_.Acquire("a"));
  std::optional<ImageLease> second = std::move(*store_.Acquire("a"));
  EXPECT_EQ(store_.Remove("a"), TreeFate::kInUse);
  EXPECT_THAT(Names(), ElementsAre());
  EXPECT_FALSE(store_.Acquire("a").has_value());
  first.reset();
  EXPECT_EQ(store_.Prune()->kept_in_use, 1U);
  EXPECT_TRUE(fs::exists(second->root_path + "/bin/one"));
  second.reset();
  EXPECT_EQ(store_.Prune()->removed_trees, 1U);
  EXPECT_EQ(Trees(), 0U);
  EXPECT_EQ(Left(), 0U);
}

TEST_F(ImageStoreTest, ATreeInUseStaysWhenItsNameMoves) {
  ASSERT_TRUE(Import("a", One()).has_value());
  std::optional<ImageLease> lease = std::move(*store_.Acquire("a"));
  ASSERT_TRUE(Import("a", Two()).has_value());
  EXPECT_TRUE(fs::exists(lease->root_path + "/bin/one"));
  EXPECT_EQ(Trees(), 2U);
  lease.reset();
  ASSERT_TRUE(Import("b", Two()).has_value());  // any change of the store removes unused trees
  EXPECT_EQ(Trees(), 1U);
}

TEST_F(ImageStoreTest, ATreeWithoutANameGetsItBackByImport) {
  ASSERT_TRUE(Import("a", One()).has_value());
  const auto lease = store_.Acquire("a");
  ASSERT_EQ(store_.Remove("a"), TreeFate::kInUse);
  ASSERT_TRUE(Import("b", One()).has_value());
  EXPECT_EQ(Trees(), 1U);
  EXPECT_EQ(store_.Acquire("b")->id, lease->id);
}

TEST_F(ImageStoreTest, ARefusedImportLeavesNothingAndTheOldImage) {
  ASSERT_TRUE(Import("a", One()).has_value());
  WriteFile(directory_.path() / "evil.tar", ArchiveBuilder().File("x/y").File("../evil").Build());
  EXPECT_EQ(CodeOf(Import("a", directory_.path() / "evil.tar")), base::Code::kPathTraversal);
  EXPECT_EQ(Left(), 0U);
  EXPECT_EQ(Trees(), 1U);
  EXPECT_TRUE(fs::exists(store_.Acquire("a")->root_path + "/bin/one"));
}

class StopAtSecondEntry : public ProgressSink {
 public:
  explicit StopAtSecondEntry(int signal) : signal_(signal) {}
  ProgressAnswer Report(const Progress& progress) override {
    if (progress.entries < 2) return ProgressAnswer::kGoOn;
    if (signal_ != 0) ::raise(signal_);
    return ProgressAnswer::kStop;
  }

 private:
  int signal_;
};

TEST_F(ImageStoreTest, AnImportThatIsStoppedLeavesNothing) {
  StopAtSecondEntry sink(0);
  EXPECT_EQ(CodeOf(Import("a", One(), &sink)), base::Code::kRejected);
  EXPECT_EQ(Left(), 0U);
  EXPECT_EQ(Trees(), 0U);
}

TEST_F(ImageStoreTest, WhatAKilledImportLeftIsRemovedByTheNextChange) {
  for (int change = 0; change < 3; ++change) {
    const pid_t child = ::fork();
    if (child == 0) {
      StopAtSecondEntry sink(SIGKILL);
      (void)Import("killed", One(), &sink);
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    ASSERT_EQ(Left(), 1U);
    EXPECT_EQ(Names(), std::vector<std::string>(static_cast<std::size_t>(change > 0), "a"));
    if (change == 0) ASSERT_TRUE(Import("a", One()).has_value());
    if (change == 1) EXPECT_EQ(store_.Prune()->removed_imports, 1U);
    if (change == 2) EXPECT_TRUE(store_.Remove("a").has_value());
    EXPECT_EQ(Left(), 0U) << change;
  }
}

// Prunes the store during an import.
class PruneMeanwhile : public ProgressSink {
 public:
  explicit PruneMeanwhile(const ImageStore& store) : store_(store) {}
  ProgressAnswer Report(const Progress& /*progress*/) override {
    const auto report = store_.Prune();
    removed += report ? report->removed_imports + report->removed_trees : 1;
    return ProgressAnswer::kGoOn;
  }
  std::size_t removed = 0;

 private:
  const ImageStore& store_;
};

TEST_F(ImageStoreTest, AnImportUnderWayIsNotTakenForOneThatWasKilled) {
  PruneMeanwhile sink(store_);
  ASSERT_TRUE(Import("a", One(), &sink).has_value());
  EXPECT_EQ(sink.removed, 0U);
  EXPECT_TRUE(store_.Acquire("a").has_value());
}

TEST_F(ImageStoreTest, ManyAtOnceDoNotHarmEachOther) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this, i] {
      for (int round = 0; round < 10; ++round) {
        const std::string name = "n" + std::to_string(i % 2);
        EXPECT_TRUE(Import(name, i % 2 == 0 ? One() : Two()).has_value());
        const auto lease = store_.Acquire(name);
        if (lease) EXPECT_TRUE(fs::exists(lease->root_path + (i % 2 == 0 ? "/bin/one" : "/bin/two")));
        if (round % 3 == 0) (void)store_.Remove(name);
        EXPECT_TRUE(store_.Prune().has_value());
      }
    });
  threads.clear();
  EXPECT_TRUE(store_.Prune().has_value());
  EXPECT_EQ(Left(), 0U);
  EXPECT_EQ(Trees(), Names().size());
}

TEST_F(ImageStoreTest, NamesThatAreNoneOrUnknownAreSaid) {
  EXPECT_EQ(CodeOf(Import("../x", One())), base::Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(store_.Remove("../x")), base::Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(store_.Acquire("../x")), base::Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(store_.Remove("none")), base::Code::kNotFound);
  EXPECT_EQ(CodeOf(store_.Acquire("none")), base::Code::kNotFound);
}

TEST_F(ImageStoreTest, ADamagedRecordIsSaidAndCanBeRemoved) {
  ASSERT_TRUE(Import("a", One()).has_value());
  WriteFile(path_ / "names/a.json", "{}");
  EXPECT_THAT(MessageOf(store_.List()), HasSubstr("skerry image remove a"));
  EXPECT_FALSE(store_.Prune().has_value());
  EXPECT_EQ(Trees(), 1U);
  EXPECT_TRUE(store_.Remove("a").has_value());
  EXPECT_EQ(Trees(), 0U);
}

TEST_F(ImageStoreTest, FilesThatSomebodyDeletedAreSaid) {
  ASSERT_TRUE(Import("a", One()).has_value());
  fs::remove_all(store_.Acquire("a")->root_path);
  EXPECT_THAT(MessageOf(store_.Acquire("a")), HasSubstr("import it again"));
}

TEST_F(ImageStoreTest, ADirectoryThatOthersMayChangeIsRefused) {
  fs::create_directory(directory_.path() / "open");
  fs::permissions(directory_.path() / "open", fs::perms::all);
  EXPECT_EQ(CodeOf(ImageStore::Open(directory_.path() / "open")), base::Code::kPermissionDenied);
  EXPECT_EQ(CodeOf(ImageStore::Open("relative")), base::Code::kInvalidArgument);
}

}  // namespace
}  // namespace skerry::image
