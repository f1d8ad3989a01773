#include "engine/named_files.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/unique_fd.hpp"
#include "engine/implicit_inputs.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::engine {
namespace {

namespace fs = std::filesystem;
using core::Language;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::UnorderedElementsAre;

class NamedFilesTest : public testing::Test {
 protected:
  void Put(const std::string& path, const std::string& bytes) const {
    fs::create_directories((directory_.path() / path).parent_path());
    std::ofstream(directory_.path() / path, std::ios::binary) << bytes;
  }
  [[nodiscard]] std::string At(const std::string& path) const { return directory_.path() / path; }
  [[nodiscard]] NamedFilesFound Of(std::string_view text, Language language = Language::kShell,
                                   std::uint64_t max_bytes = std::uint64_t{1} << 30U) const {
    return NamedFiles({.language = language, .texts = {text}, .max_bytes = max_bytes}, root_.get());
  }

  support::TemporaryDirectory directory_;
  base::UniqueFd root_{::open(directory_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(NamedFilesTest, AStoreThroughAMappingIsSeenWhateverTheTimesSay) {
  constexpr std::size_t kSize = (65U << 20U) + 1;
  Put("big.sh", "echo GOOD\n");
  fs::resize_file(At("big.sh"), kSize);
  const base::UniqueFd file(::open(At("big.sh").c_str(), O_RDWR | O_CLOEXEC));
  void* const view = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  ASSERT_NE(view, MAP_FAILED);
  const auto before = Of("bash big.sh");
  static_cast<char*>(view)[5] = 'B';
  const auto after = Of("bash big.sh");
  ::munmap(view, kSize);
  EXPECT_THAT(before.unread, IsEmpty());
  EXPECT_EQ(before.files.at("big.sh").size(), 64U);
  EXPECT_NE(before.files.at("big.sh"), after.files.at("big.sh"));
}

TEST_F(NamedFilesTest, WhatIsBeyondTheBoundIsUnreadAndHasNoDigest) {
  Put("a.sh", std::string(600, '#'));
  Put("b.sh", std::string(600, '#'));
  const auto found = Of("bash a.sh b.sh", Language::kShell, 1000);
  EXPECT_THAT(found.unread, HasSubstr("b.sh"));
  EXPECT_EQ(found.files.at("b.sh"), "");
  EXPECT_EQ(found.files.at("a.sh").size(), 64U);
}

TEST_F(NamedFilesTest, ALeasedFileIsUnread) {
  Put("x.sh", "echo");
  const base::UniqueFd holder(::open(At("x.sh").c_str(), O_RDWR | O_CLOEXEC));
  const auto before = ::signal(SIGIO, SIG_IGN);
  if (::fcntl(holder.get(), F_SETLEASE, F_WRLCK) < 0) GTEST_SKIP() << "there are no leases here";
  const auto found = Of("bash x.sh");
  ::signal(SIGIO, before);
  EXPECT_THAT(found.unread, HasSubstr("x.sh: a program has a lease on it"));
}

TEST_F(NamedFilesTest, WhoGoesAwayWaitsForNothing) {
  Put("x.sh", "echo");
  std::stop_source stop;
  stop.request_stop();
  const auto found = NamedFiles({.texts = {"bash x.sh"}}, root_.get(), stop.get_token());
  EXPECT_THAT(found.unread, Not(IsEmpty()));
}

TEST_F(NamedFilesTest, AnImportFindsEverythingThatCouldBeMeant) {
  for (const char* path :
       {"job.py", "job.cpython-311-x86_64-linux-gnu.so", "__pycache__/job.cpython-311.pyc", "job.csv", "jobless.py",
        "pack/__init__.py", "pack/part.py", "pack/__pycache__/part.cpython-311.pyc"})
    Put(path, "pass");
  const auto found = Of("import job, pack.part", Language::kPython);
  EXPECT_THAT(found.files, UnorderedElementsAre(Key("job.py"), Key("job.cpython-311-x86_64-linux-gnu.so"),
                                                Key("__pycache__/job.cpython-311.pyc"), Key("pack/__init__.py"),
                                                Key("pack/part.py"), Key("pack/__pycache__/part.cpython-311.pyc")));
  EXPECT_TRUE(found.all);
  EXPECT_THAT(found.tools, IsEmpty());
}

TEST_F(NamedFilesTest, FilesThatFilesNameCount) {
  Put("a.sh", "cd sub/ && . ./b.sh");
  Put("sub/b.sh", "python3 ../c.py");
  Put("c.py", "");
  EXPECT_THAT(Of("bash ./a.sh").files, UnorderedElementsAre(Key("a.sh"), Key("sub/b.sh"), Key("sub/../c.py")));
}

TEST_F(NamedFilesTest, AScriptThatIsTooLargeToBeFollowedNamesMoreThanWasLookedAt) {
  Put("large.sh", std::string(300'000, '#') + "\n. ./lib.sh\n");
  Put("large.csv", std::string(300'000, '1'));
  EXPECT_FALSE(Of("sh large.sh").all);
  EXPECT_TRUE(Of("wc large.csv").all);
}

TEST_F(NamedFilesTest, EveryDirectoryThatIsNamedIsLookedInto) {
  std::string code = "x.sh ";
  for (int number = 0; number < 30; ++number) {
    const std::string directory = "a-directory-with-a-long-name-" + std::to_string(number);
    Put(directory + "/x.sh", "echo");
    code += "cd " + directory + "; ";
  }
  const auto found = Of(code + "cd a-directory-with-a-long-name-1/../a-directory-with-a-long-name-2");
  EXPECT_EQ(found.files.size(), 31U);
  EXPECT_TRUE(found.all);
}

TEST_F(NamedFilesTest, LinksCountWithWhatTheyLeadTo) {
  Put("real.sh", "echo");
  fs::create_symlink("/workspace/real.sh", At("link.sh"));
  fs::create_symlink("real.sh", At("near.sh"));
  EXPECT_THAT(Of("sh link.sh").files, UnorderedElementsAre(Key("link link.sh"), Key("real.sh")));
  EXPECT_THAT(Of("sh near.sh").files, UnorderedElementsAre(Key("near.sh")));
}

TEST_F(NamedFilesTest, WhatToolsReadByThemselvesIsLookedAt) {
  for (const char* path : {"Makefile", "package.json", "conftest.py", "sub/Dockerfile", "Cargo.toml"}) Put(path, "");
  EXPECT_THAT(Of("make -j").files, Contains(Key("Makefile")));
  EXPECT_THAT(Of("/usr/bin/make").files, Contains(Key("Makefile")));
  EXPECT_THAT(Of("env X=1 npm test").files, Contains(Key("package.json")));
  EXPECT_THAT(Of("python3 -m pytest").files, Contains(Key("conftest.py")));
  EXPECT_THAT(Of("cd sub; docker build .").files, Contains(Key("sub/Dockerfile")));
  const auto found = Of("import subprocess; subprocess.run(['cargo', 'run'])", Language::kPython);
  EXPECT_THAT(found.files, Contains(Key("Cargo.toml")));
  EXPECT_THAT(found.tools, UnorderedElementsAre("cargo"));
}

TEST_F(NamedFilesTest, AToolInsideOfAScriptCountsToo) {
  Put("build.sh", "#!/bin/sh\njust build\n");
  Put("justfile", "build:\n\techo\n");
  const auto found = Of("sh build.sh");
  EXPECT_THAT(found.tools, UnorderedElementsAre("just"));
  EXPECT_THAT(found.files, Contains(Key("justfile")));
}

TEST_F(NamedFilesTest, AWordThatIsAToolTooCountsAmongCommandsOnly) {
  EXPECT_THAT(Of("value = next(it)  # just go", Language::kPython).tools, IsEmpty());
  EXPECT_THAT(Of("go test ./...").tools, UnorderedElementsAre("go"));
}

TEST_F(NamedFilesTest, PackagesOfNodeAreRead) {
  Put("node_modules/left-pad/package.json", "{}");
  Put("node_modules/left-pad/index.js", "");
  const auto found = Of("require('left-pad')", Language::kJavaScript);
  EXPECT_THAT(found.files, Contains(Key("node_modules/left-pad/index.js")));
  EXPECT_THAT(found.tools, UnorderedElementsAre("node_modules"));
}

TEST_F(NamedFilesTest, TooManyWordsAreTold) {
  std::string words;
  for (int number = 0; number < 30'000; ++number) words += "w" + std::to_string(number) + " ";
  EXPECT_FALSE(Of(words).all);
}

TEST(ImplicitInputsTest, ProgramsAreKnownByTheirNames) {
  EXPECT_NE(ImplicitInputsOf("make"), nullptr);
  EXPECT_NE(ImplicitInputsOf("./gradlew"), nullptr);
  EXPECT_EQ(ImplicitInputsOf("echo"), nullptr);
  EXPECT_EQ(ImplicitInputsOf(""), nullptr);
}

}  // namespace
}  // namespace skerry::engine
