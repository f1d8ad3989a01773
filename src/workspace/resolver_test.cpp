#include "workspace/resolver.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "os/files.hpp"
#include "workspace/workspace_fixture.hpp"

namespace skerry::workspace {
namespace {

namespace fs = std::filesystem;

TEST(MapPathTest, EverySpellingOfAPathIsTheSame) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"a", "a"},
      {"/a", "a"},
      {"./a", "a"},
      {"/workspace/a", "a"},
      {"//workspace//a/", "a"},
      {"/./workspace/./a/.", "a"},
      {"", ""},
      {"/", ""},
      {".", ""},
      {"/workspace", ""},
      {"/workspace/", ""},
      {"workspace/x", "workspace/x"},
      {"/workspace/workspace/x", "workspace/x"},
      {"/workspacex", "workspacex"},
      {"/a/workspace/x", "a/workspace/x"},
      {"a/../b", "a/../b"},
      {"a/b/../..", "a/b/../.."},
      {"%2e%2e/x", "%2e%2e/x"},
      {"..a/b..", "..a/b.."},
      {"...", "..."},
      {" ", " "},
      {"-rf", "-rf"},
      {"a\nb", "a\nb"},
      {"\xff\xfe", "\xff\xfe"},
      {"a\\..\\b", "a\\..\\b"},
      {std::string(255, 'n'), std::string(255, 'n')},
  };
  for (const auto& [path, mapped] : table) {
    const auto result = MapPath(path);
    ASSERT_TRUE(result) << path << ": " << result.error().message;
    EXPECT_EQ(*result, mapped) << path;
  }
}

TEST(MapPathTest, ClimbingOutIsTraversal) {
  for (const std::string path : {"..", "../x", "a/../../x", "./..//..//x", "/../x", "/workspace/..", "/workspace/../x",
                                 "a/b/../../../etc/passwd", "/.."})
    EXPECT_EQ(CodeOf(MapPath(path)), "path_escapes_workspace") << path;
}

TEST(MapPathTest, WhatNoPathCanBeIsInvalid) {
  for (const std::string& path : {std::string("a\0b", 3), std::string(256, 'n'), "a/" + std::string(256, 'n') + "/b",
                                  std::string(4001, '/'), std::string(1, '\0')})
    EXPECT_EQ(CodeOf(MapPath(path)), "invalid_argument") << path.size();
  EXPECT_TRUE(MapPath(std::string(4000, '/')));
}

class ResolverTest : public WorkspaceTest {
 protected:
  ResolverTest() {
    Put("file", "inside");
    Put("d/e/file", "deep");
  }
  Resolver resolver_{DirectoryFd(root_), GetParam()};

  std::string Content(const std::string& path) {
    const auto fd = resolver_.Open(path, O_RDONLY);
    if (!fd) return CodeOf(fd);
    return os::ReadAll(fd->get(), kLimit).value_or("unreadable");
  }
};
SKERRY_BOTH_WAYS(ResolverTest);

TEST_P(ResolverTest, LinksThatStayInsideAreFollowed) {
  Link("file", "to_file");
  Link("d", "to_d");
  Link("../../file", "d/e/up");
  Link("to_file", "chain");
  Link("/workspace/d/e/file", "absolute");
  Link("/workspace", "all");
  Link("e/../../file", "d/around");
  for (const char* path : {"file", "to_file", "d/e/up", "chain", "to_d/e/up", "to_d/../file", "all/file",
                           "all/all/to_file", "d/around", "all/d/../to_d/e/up"})
    EXPECT_EQ(Content(path), "inside") << path;
  for (const char* path : {"d/e/file", "to_d/e/file", "absolute", "all/absolute", "d/../d/e/file"})
    EXPECT_EQ(Content(path), "deep") << path;
}

TEST_P(ResolverTest, LinksThatLeadOutAreTraversal) {
  Link(outside_ / "secret", "absolute");
  Link("../outside/secret", "relative");
  Link("../../outside", "d/directory");
  Link("relative", "chain");
  Link("/workspace/../outside/secret", "sly");
  Link("/workspacex/secret", "near");
  Link("/", "host");
  Link("..", "parent");
  Link("/proc/self/root", "magic");
  for (const char* path :
       {"absolute", "relative", "d/directory/secret", "chain", "sly", "near", "parent/outside/secret",
        "magic/etc/passwd", "host/etc/passwd", "d/../relative", "parent", "host"}) {
    EXPECT_EQ(Content(path), "path_escapes_workspace") << path;
    EXPECT_EQ(CodeOf(resolver_.Open(path, O_PATH)), "path_escapes_workspace") << path;
    EXPECT_EQ(CodeOf(resolver_.Find(path, Resolver::LastLink::kFollow)), "path_escapes_workspace") << path;
    EXPECT_EQ(CodeOf(resolver_.Find(std::string(path) + "/new", Resolver::LastLink::kKeep)), "path_escapes_workspace")
        << path;
  }
}

TEST_P(ResolverTest, ErrorsNameNoPathOfTheHost) {
  Link(outside_ / "secret", "out");
  Link("loop", "loop");
  for (const char* path : {"out", "loop", "missing", "file/x"})
    EXPECT_EQ(MessageOf(resolver_.Open(path, O_RDONLY)).find('/'), std::string::npos) << path;
}

TEST_P(ResolverTest, LoopsEnd) {
  Link("loop", "loop");
  Link("b", "a");
  Link("a", "b");
  Link("self/x", "self");
  for (const char* path : {"loop", "a", "b/x", "self"}) EXPECT_EQ(Content(path), "invalid_argument") << path;
}

TEST_P(ResolverTest, FortyLinksAreFollowedAndNoMore) {
  Link("file", "l1");
  for (int at = 2; at <= 41; ++at) Link("l" + std::to_string(at - 1), "l" + std::to_string(at));
  EXPECT_EQ(Content("l40"), "inside");
  EXPECT_EQ(Content("l41"), "invalid_argument");
}

TEST_P(ResolverTest, ALinkAtTheEndIsKeptWhenAskedFor) {
  Link(outside_ / "secret", "out");
  const auto fd = resolver_.Open("out", O_PATH | O_NOFOLLOW);
  ASSERT_TRUE(fd) << fd.error().message;
  EXPECT_EQ(CodeOf(resolver_.Open("out", O_RDONLY | O_NOFOLLOW)), "conflict");
  const auto place = resolver_.Find("out", Resolver::LastLink::kKeep);
  ASSERT_TRUE(place);
  EXPECT_TRUE(place->HoldsLink());
  EXPECT_EQ(place->name, "out");
}

TEST_P(ResolverTest, FindFollowsTheLastLinkToItsPlace) {
  Link("d/e/new", "dangling");
  Link("d/e", "to_e");
  const auto located = resolver_.Locate("dangling", Resolver::LastLink::kFollow);
  ASSERT_TRUE(located) << located.error().message;
  EXPECT_EQ(located->path, "d/e/new");
  EXPECT_EQ(located->place.name, "new");
  EXPECT_FALSE(located->place.entry);
  EXPECT_EQ(resolver_.Locate("to_e/file", Resolver::LastLink::kKeep)->path, "d/e/file");
  EXPECT_EQ(resolver_.Locate("d/../to_e/../e/..", Resolver::LastLink::kKeep)->path, "d");
  EXPECT_EQ(CodeOf(resolver_.Locate("d/..", Resolver::LastLink::kKeep)), "invalid_argument");
  EXPECT_EQ(CodeOf(resolver_.Locate("", Resolver::LastLink::kKeep)), "invalid_argument");
  EXPECT_EQ(CodeOf(resolver_.Locate("missing/x", Resolver::LastLink::kKeep)), "not_found");
}

TEST_P(ResolverTest, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(Content("missing"), "not_found");
  EXPECT_EQ(Content("d/missing/x"), "not_found");
  EXPECT_EQ(Content("file/x"), "not_found");
  EXPECT_EQ(Content("file/.."), "not_found");
  EXPECT_EQ(CodeOf(resolver_.Open("file", O_RDONLY | O_DIRECTORY)), "not_found");
}

TEST_P(ResolverTest, OnlyFilesAndDirectoriesAreOpened) {
  ASSERT_EQ(::mkfifo((root_ / "fifo").c_str(), 0666), 0);
  const base::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string name = root_ / "socket";
  ASSERT_LT(name.size(), sizeof address.sun_path);
  name.copy(address.sun_path, name.size());
  ASSERT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  // A writer that waits for a reader of the fifo would go on if the fifo was opened, even for a moment.
  const pid_t writer = ::fork();
  if (writer == 0) {
    const int opened = ::open((root_ / "fifo").c_str(), O_WRONLY | O_CLOEXEC);
    _exit(opened >= 0 ? 7 : 8);
  }
  for (const char* path : {"fifo", "socket"})
    for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR | O_APPEND})
      for (int tries = 0; tries < 20; ++tries) {
        EXPECT_EQ(CodeOf(resolver_.Open(path, flags)), "conflict") << path;
        ::usleep(1000);
      }
  EXPECT_EQ(::waitpid(writer, nullptr, WNOHANG), 0) << "the fifo was opened";
  ::kill(writer, SIGKILL);
  ::waitpid(writer, nullptr, 0);
}

TEST_P(ResolverTest, ALeaseIsAConflictAtOnce) {
  Put("leased", "text");
  const base::UniqueFd holder(::open((root_ / "leased").c_str(), O_RDWR | O_CLOEXEC));
  const auto before = ::signal(SIGIO, SIG_IGN);
  if (::fcntl(holder.get(), F_SETLEASE, F_WRLCK) < 0) GTEST_SKIP() << "there are no leases here";
  EXPECT_EQ(CodeOf(resolver_.Open("leased", O_RDONLY)), "conflict");
  ::signal(SIGIO, before);
}

TEST_P(ResolverTest, ADeviceIsNotOpened) {
  if (::mknod((root_ / "null").c_str(), S_IFCHR | 0666, makedev(1, 3)) < 0) GTEST_SKIP() << "mknod needs root";
  EXPECT_EQ(Content("null"), "conflict");
  EXPECT_EQ(CodeOf(resolver_.Open("null", O_WRONLY)), "conflict");
}

TEST_P(ResolverTest, MountsAreNotEntered) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting needs root";
  fs::create_directory(root_ / "mount");
  Put("bound", "");
  Link("mount", "to_mount");
  EXPECT_EQ(InChild([&]() -> std::string {
              if (std::string problem = PrivateMounts(); !problem.empty()) return problem;
              if (::mount(outside_.c_str(), (root_ / "mount").c_str(), nullptr, MS_BIND, nullptr) < 0) return "bind";
              if (::mount((outside_ / "secret").c_str(), (root_ / "bound").c_str(), nullptr, MS_BIND, nullptr) < 0)
                return "bind of a file";
              const Resolver resolver(DirectoryFd(root_), GetParam());
              for (const char* path : {"mount/secret", "mount", "to_mount/secret", "bound", "mount/../mount/secret"})
                for (const int flags : {O_RDONLY, O_PATH, O_PATH | O_NOFOLLOW})
                  if (std::string code = CodeOf(resolver.Open(path, flags)); code != "permission_denied")
                    return std::string(path) + ": " + code;
              return CodeOf(resolver.Open("file", O_RDONLY)) == "ok" ? "" : "nothing can be opened";
            }),
            "");
}

TEST_P(ResolverTest, DeepTreesNeedFewDescriptors) {
  UseMemory();
  resolver_ = Resolver(DirectoryFd(root_), GetParam());
  Put("file", "inside");
  constexpr int kDepth = 1200;
  std::string path;
  base::UniqueFd here = DirectoryFd(root_);
  for (int depth = 0; depth < kDepth; ++depth) {
    ASSERT_EQ(::mkdirat(here.get(), "a", 0755), 0);
    here.Reset(::openat(here.get(), "a", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    path += path.empty() ? "a" : "/a";
  }
  here.Reset(::openat(here.get(), "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  ASSERT_EQ(::write(here.get(), "bottom", 6), 6);
  Link(path, "bottom");
  EXPECT_EQ(InChild([&]() -> std::string {
              const rlimit few{.rlim_cur = 100, .rlim_max = 100};
              if (::setrlimit(RLIMIT_NOFILE, &few) < 0) return "limit";
              if (Content(path + "/f") != "bottom") return "read: " + Content(path + "/f");
              if (Content("bottom/f") != "bottom") return "by link: " + Content("bottom/f");
              // Up again as far as the longest path allows, and down to the bottom by the link.
              std::string up = path;
              for (int depth = 0; depth < 400; ++depth) up += "/..";
              if (auto located = resolver_.Locate(up, Resolver::LastLink::kKeep); !located) return MessageOf(located);
              if (Content(up + "/../../a/a/a/../../../../file") != "not_found") return "there is no such file";
              std::string top = "bottom";
              for (int depth = 0; depth < kDepth; ++depth) top += "/..";
              return Content(top + "/file") == "inside" ? "" : "top: " + Content(top + "/file");
            }),
            "");
}

}  // namespace
}  // namespace skerry::workspace
