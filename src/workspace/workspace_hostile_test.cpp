// What programs leave in a workspace to trap a process outside, and what a host runs out of.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "workspace/workspace_fixture.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;

class HostileWorkspaceTest : public WorkspaceTest {
 protected:
  // Tries every operation on a path; "" or the first one that did not end with the code.
  std::string Every(const std::string& path, const std::string& code) {
    const std::vector<std::string> codes = {
        CodeOf(Files().OpenFile(path)),
        CodeOf(Read(path)),
        CodeOf(Files().ReadLines(path, {}, kLimit)),
        CodeOf(Files().Write(path, "evil")),
        CodeOf(Files().Append(path, "evil")),
        CodeOf(Files().Edit(path, {text::ReplaceText{.old_text = "secret", .new_text = "evil"}})),
        CodeOf(Files().Copy(path, "copy", Existing::kReplace)),
    };
    for (std::size_t at = 0; at < codes.size(); ++at)
      if (codes[at] != code) return std::to_string(at) + ": " + codes[at];
    return {};
  }
};
SKERRY_BOTH_WAYS(HostileWorkspaceTest);

TEST_P(HostileWorkspaceTest, NothingGoesThroughALinkThatLeadsOut) {
  fs::create_directory(root_ / "d");
  Link(outside_ / "secret", "absolute");
  Link("../outside/secret", "relative");
  Link("../../outside", "d/up");
  Link(outside_, "directory");
  Link("/proc/self/root" + (outside_ / "secret").string(), "magic");
  Link("/proc/self/cwd", "cwd");
  Link("absolute", "chain");
  Link(outside_ / "new", "new");
  for (const char* path : {"absolute", "relative", "d/up/secret", "directory/secret", "magic", "chain", "cwd/x", "new",
                           "directory/new", "d/up/new"})
    EXPECT_EQ(Every(path, "path_escapes_workspace"), "") << path;
  for (const char* path : {"directory", "d/up"}) {
    EXPECT_EQ(CodeOf(Files().List(path, {})), "path_escapes_workspace") << path;
    const std::string below = std::string(path) + "/x";
    EXPECT_EQ(CodeOf(Files().MakeDirectory(below, Parents::kMake)), "path_escapes_workspace");
    EXPECT_EQ(CodeOf(Files().MakeLink(below, "y", Existing::kReplace)), "path_escapes_workspace");
    EXPECT_EQ(CodeOf(Files().Delete(std::string(path) + "/secret", Depth::kAll)), "path_escapes_workspace");
    EXPECT_EQ(CodeOf(Files().Move(std::string(path) + "/secret", "got", Existing::kKeep)), "path_escapes_workspace");
    EXPECT_EQ(CodeOf(Files().Stat(std::string(path) + "/secret")), "path_escapes_workspace");
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(outside_), {}), 1);
  EXPECT_EQ(Get(outside_ / "secret"), kSecret);
  EXPECT_EQ(Files().Stat("absolute")->kind, EntryKind::kLink) << "the link itself can be looked at";
  EXPECT_TRUE(Files().Delete("absolute", Depth::kAll)) << "and go";
  EXPECT_EQ(Get(outside_ / "secret"), kSecret);
}

TEST_P(HostileWorkspaceTest, EveryNameIsAName) {
  const std::string longest(255, 'n');
  const std::vector<std::string> names = {" ",         "a b",          "\"quoted\" 'name'",
                                          "new\nline", "-rf",          "--help",
                                          "tab\t",     "\xff\xfe",     "$(id)",
                                          "*",         "a\\b",         "%2e%2e",
                                          "...",       "..x",          "e\xcc\x81",
                                          "\xc3\xa9",  "\xe2\x80\xae", longest,
                                          "~",         "con:aux|?"};
  for (const std::string& name : names) {
    ASSERT_TRUE(Files().Write("d/" + name, name)) << name;
    EXPECT_EQ(Read("d/" + name).value_or("none"), name);
    EXPECT_EQ(Files().Stat("d/" + name)->path, "d/" + name);
  }
  EXPECT_EQ(Names("d").size(), names.size()) << "twins of Unicode are two names";
  EXPECT_EQ(Files().AllFiles()->size(), names.size());
  for (const std::string& name : names) EXPECT_TRUE(Files().Delete("d/" + name, Depth::kOne)) << name;
  EXPECT_EQ(CodeOf(Files().Write(longest + "n", "")), "invalid_argument");
  EXPECT_EQ(CodeOf(Files().Write(std::string("a\0b", 3), "")), "invalid_argument");
}

TEST_P(HostileWorkspaceTest, AThousandDirectoriesDeepEverythingWorks) {
  UseMemory();
  std::string path = "a";
  for (int depth = 1; depth < 1200; ++depth) path += "/a";
  const std::string file = path + "/f";
  EXPECT_EQ(InChild([&]() -> std::string {
              const rlimit few{.rlim_cur = 120, .rlim_max = 120};
              if (::setrlimit(RLIMIT_NOFILE, &few) < 0) return "limit";
              if (auto made = Files().Write(file, "bottom"); !made) return "write: " + MessageOf(made);
              if (Read(file).value_or("") != "bottom") return "read: " + MessageOf(Read(file));
              if (auto added = Files().Append(file, "!"); !added) return "append: " + MessageOf(added);
              const auto listing = Files().List(path, {});
              if (!listing || listing->entries.size() != 1) return "list: " + MessageOf(listing);
              if (auto copied = Files().Copy("a/a/a", "b", Existing::kKeep); !copied)
                return "copy: " + MessageOf(copied);
              if (auto gone = Files().Delete(file, Depth::kOne); !gone) return "delete: " + MessageOf(gone);
              if (auto gone = Files().Delete("a", Depth::kAll); !gone) return "delete all: " + MessageOf(gone);
              const auto files = Files().AllFiles();
              return files && files->size() == 1 && files->front().size == 7 ? "" : "all: " + MessageOf(files);
            }),
            "");
  EXPECT_FALSE(Exists("a"));
  EXPECT_TRUE(StageIsEmpty());
}

TEST_P(HostileWorkspaceTest, MountsAreNeitherReadNorWrittenNorRemoved) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting needs root";
  fs::create_directories(root_ / "t/d/mount");
  Put("t/d/bound", "");
  EXPECT_EQ(InChild([&]() -> std::string {
              if (std::string problem = PrivateMounts(); !problem.empty()) return problem;
              if (::mount(outside_.c_str(), (root_ / "t/d/mount").c_str(), nullptr, MS_BIND, nullptr) < 0 ||
                  ::mount((outside_ / "secret").c_str(), (root_ / "t/d/bound").c_str(), nullptr, MS_BIND, nullptr) < 0)
                return "bind";
              Open({});
              const std::vector<std::string> codes = {
                  CodeOf(Read("t/d/mount/secret")),
                  CodeOf(Read("t/d/bound")),
                  CodeOf(Files().Write("t/d/mount/new", "x")),
                  CodeOf(Files().Write("t/d/mount/new/deep", "x")),
                  CodeOf(Files().Write("t/d/bound", "x")),
                  CodeOf(Files().Append("t/d/bound", "x")),
                  CodeOf(Files().Append("t/d/mount/secret", "x")),
                  CodeOf(Files().List("t/d/mount", {})),
                  CodeOf(Files().Delete("t/d/mount/secret", Depth::kOne)),
                  CodeOf(Files().Delete("t/d/mount", Depth::kAll)),
                  CodeOf(Files().Delete("t/d/bound", Depth::kAll)),
                  CodeOf(Files().Delete("t/d", Depth::kAll)),
                  CodeOf(Files().Delete("t", Depth::kAll)),
                  CodeOf(Files().Copy("t", "u", Existing::kKeep)),
                  CodeOf(Files().Copy("t/d/mount", "u", Existing::kKeep)),
                  CodeOf(Files().Copy("t/d/bound", "u", Existing::kKeep)),
                  CodeOf(Files().Move("t/d/mount", "u", Existing::kKeep)),
              };
              for (std::size_t at = 0; at < codes.size(); ++at)
                if (codes[at] != "permission_denied") return std::to_string(at) + ": " + codes[at];
              if (!Files().AllFiles()->empty()) return "a mounted file was recorded";
              return Files().CurrentUsage()->entries == 2 ? "" : "what is mounted was counted";
            }),
            "");
  EXPECT_EQ(Get(outside_ / "secret"), kSecret);
  EXPECT_EQ(std::distance(fs::directory_iterator(outside_), {}), 1);
}

TEST_P(HostileWorkspaceTest, OnAFullDiskTheOldContentStays) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting needs root";
  EXPECT_EQ(InChild([&]() -> std::string {
              if (std::string problem = PrivateMounts(); !problem.empty()) return problem;
              if (::mount("tmpfs", top_.c_str(), "tmpfs", 0, "size=256k") < 0) return "tmpfs";
              for (const char* name : {"root", "stage"}) fs::create_directory(top_ / name);
              Open({});
              if (auto made = Files().Write("f", "old content"); !made) return MessageOf(made);
              if (auto made = Files().Write("log", std::string(50'000, 'l')); !made) return MessageOf(made);
              const std::string much(400'000, 'x');
              const std::vector<std::string> messages = {
                  MessageOf(Files().Write("f", much)),
                  MessageOf(Files().Write("new", much)),
                  MessageOf(Files().Append("log", much)),
              };
              if (messages[0] != "f: the disk is full") return messages[0];
              if (messages[1] != "new: the disk is full") return messages[1];
              if (messages[2] != "log: the disk is full") return messages[2];
              if (GetFile("f") != "old content" || Exists("new")) return "the old content is gone";
              if (GetFile("log") != std::string(50'000, 'l')) return "half of it was appended";
              if (auto copied = Files().Copy("log", "copy", Existing::kKeep); !copied) return MessageOf(copied);
              if (!Files().MakeDirectory("t", Parents::kNeed)) return "no directory";
              if (!Files().Move("log", "t/log", Existing::kKeep)) return "no move";
              if (!Files().Copy("t", "u", Existing::kKeep)) return "the disk should not be full yet";
              if (std::string code = CodeOf(Files().Copy("u", "v", Existing::kKeep)); code != "ok") return code;
              if (std::string code = CodeOf(Files().Copy("u", "w", Existing::kKeep)); code != "too_large") return code;
              return StageIsEmpty() && !Exists("w") ? "" : "something is left over";
            }),
            "");
}

TEST_P(HostileWorkspaceTest, AReadOnlyFileSystemCanBeRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting needs root";
  Put("d/f", "text");
  EXPECT_EQ(InChild([&]() -> std::string {
              if (std::string problem = PrivateMounts(); !problem.empty()) return problem;
              if (::mount(top_.c_str(), top_.c_str(), nullptr, MS_BIND, nullptr) < 0 ||
                  ::mount(nullptr, top_.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) < 0)
                return "read-only";
              Open({});
              const std::vector<std::string> messages = {
                  MessageOf(Files().Write("d/f", "x")),
                  MessageOf(Files().Append("d/f", "x")),
                  MessageOf(Files().Delete("d/f", Depth::kOne)),
                  MessageOf(Files().MakeDirectory("d/f2", Parents::kNeed)).substr(0, 1) + "/f" +
                      MessageOf(Files().MakeDirectory("d/f2", Parents::kNeed)).substr(4),
              };
              for (const std::string& message : messages)
                if (message != "d/f: the file system is read-only") return message;
              if (CodeOf(Files().Move("d/f", "g", Existing::kKeep)) != "permission_denied") return "move";
              if (CodeOf(Files().Copy("d", "e", Existing::kKeep)) != "permission_denied") return "copy";
              if (CodeOf(Files().Delete("d", Depth::kAll)) != "permission_denied") return "delete";
              return Read("d/f").value_or("none") == "text" ? "" : "read";
            }),
            "");
}

TEST_P(HostileWorkspaceTest, APlainUserIsToldWhatIsLocked) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become a plain user that may come in";
  Put("roots/f", "x");
  fs::create_directory(root_ / "mine");
  fs::create_directory(root_ / "listed");
  Put("listed/f", "x");
  ::chmod((root_ / "roots").c_str(), 0755);
  for (const fs::path& path : {root_, top_ / "stage", root_ / "mine", root_ / "listed", root_ / "listed/f"})
    ASSERT_EQ(::chown(path.c_str(), 54321, 54321), 0);
  ::chmod(top_.c_str(), 0755);
  ::chmod((root_ / "roots/f").c_str(), 0600);
  EXPECT_EQ(InChild([&]() -> std::string {
              if (::setgid(54321) < 0 || ::setuid(54321) < 0) return "cannot become a plain user";
              Open({});
              if (auto made = Files().Write("mine/f", "x", {.mode = 0}); !made) return "write: " + MessageOf(made);
              const std::vector<std::string> messages = {
                  MessageOf(Read("mine/f")),
                  MessageOf(Files().Append("mine/f", "x")),
              };
              for (const std::string& message : messages)
                if (message != "mine/f: permission denied") return message;
              if (CodeOf(Read("roots/f")) != "permission_denied") return "read";
              if (CodeOf(Files().Write("roots/g", "x")) != "permission_denied") return "write";
              if (CodeOf(Files().Delete("roots/f", Depth::kOne)) != "permission_denied") return "delete";
              if (CodeOf(Files().Copy("roots", "copy", Existing::kKeep)) != "permission_denied") return "copy";
              // A directory that may be listed but not entered, and one that may not even be listed.
              ::chmod((root_ / "listed").c_str(), 0600);
              Files().Recount();
              if (auto usage = Files().CurrentUsage(); !usage || usage->entries < 4)
                return "count: " + MessageOf(usage);
              if (CodeOf(Read("listed/f")) != "permission_denied") return "listed";
              if (CodeOf(Files().Write("listed/g", "x")) != "permission_denied") return "listed write";
              ::chmod((root_ / "listed").c_str(), 0);
              Files().Recount();
              if (auto usage = Files().CurrentUsage(); !usage) return "count: " + MessageOf(usage);
              // A locked file of the same user is found; the files in a closed directory are not.
              if (auto files = Files().AllFiles(); !files || files->size() != 1 || files->front().path != "mine/f")
                return "all: " + MessageOf(files);
              if (auto gone = Files().Delete("listed", Depth::kAll); !gone) return "unlock: " + MessageOf(gone);
              if (auto made = Files().Write("mine/f", "y", {.mode = 0600}); !made) return "replace: " + MessageOf(made);
              return Exists("listed") || GetFile("mine/f") != "y" ? "not done" : "";
            }),
            "");
}

TEST_P(HostileWorkspaceTest, AFileThatBecomesADirectoryIsAnError) {
  auto writer = Files().BeginWrite("f", {});
  auto deep = Files().BeginWrite("a/b", {});
  ASSERT_TRUE(writer && deep);
  fs::create_directory(root_ / "f");
  Put("a", "a file in the way");
  EXPECT_EQ(MessageOf(writer->Finish()), "f: is a directory");
  EXPECT_EQ(MessageOf(deep->Finish()), "a/b: a part of the path is no directory");
  EXPECT_EQ(GetFile("a"), "a file in the way");
}

TEST_P(HostileWorkspaceTest, AParentThatBecomesALinkOutIsNotFollowed) {
  auto writer = Files().BeginWrite("a/b/f", {});
  ASSERT_TRUE(writer);
  Link(outside_, "a");
  EXPECT_EQ(CodeOf(writer->Finish()), "conflict");
  EXPECT_EQ(std::distance(fs::directory_iterator(outside_), {}), 1);
}

}  // namespace
}  // namespace skerry::workspace
