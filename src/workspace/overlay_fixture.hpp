// For tests: a program that works in a real overlay over a directory, and rules that refuse what a test names.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/unique_fd.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"
#include "os/mounts.hpp"
#include "os/remove_tree.hpp"
#include "os/socket.hpp"
#include "workspace/beneath.hpp"
#include "workspace/commit.hpp"

namespace skerry::workspace {

// Refuses the paths that it holds, each with its reason, and remembers what it was asked.
class ListedRules : public CommitRules {
 public:
  std::string Refuses(const Change& change, const ChangeContents& contents) override {
    asked.push_back(change.path);
    if (look) look(change, contents);
    for (std::string_view at = change.path; change.kind != ChangeKind::kDeletion && !at.empty(); at = ParentOf(at))
      if (unwritten_names.contains(NameOf(at))) return "protected";
    const auto found = refused.find(change.path);
    return found == refused.end() ? std::string() : found->second;
  }
  std::set<std::string, std::less<>> unwritten_names;  // with all below them; to delete them is allowed
  std::map<std::string, std::string> refused;
  std::vector<std::string> asked;
  std::function<void(const Change&, const ChangeContents&)> look;
};

// Runs `body` in a child with a mount namespace of its own, as root there where it is needed, with a tmpfs at `stage`.
// The child ends with what `body` returns, or with a text of what could not be set up.
struct InChild {
  std::string failure;  // empty: it ended with 0
  base::UniqueFd fd;    // what it sent, if anything

  static InChild Run(const std::filesystem::path& stage, const std::function<std::string(int socket)>& body) {
    auto pair = os::SocketPair::Create().value();
    const pid_t child = ::fork();
    if (child == 0) {
      std::string failure = EnterNamespace(stage);
      if (failure.empty()) failure = body(pair.second.get());
      if (!failure.empty()) (void)os::SendMessage(pair.second.get(), "!" + failure);
      ::_exit(0);
    }
    pair.second.Reset();
    InChild result;
    for (;;) {
      auto message = os::ReceiveMessage(pair.first.get(), base::Deadline::After(std::chrono::seconds(60))).value();
      if (message.EndOfStream()) break;
      if (message.bytes.starts_with('!')) result.failure = message.bytes.substr(1);
      if (!message.fds.empty()) result.fd = std::move(message.fds.front());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (result.failure.empty() && status != 0) result.failure = "the child died, status " + std::to_string(status);
    return result;
  }

 private:
  static std::string EnterNamespace(const std::filesystem::path& stage) {
    const std::string user = std::to_string(::getuid());
    const std::string group = std::to_string(::getgid());
    if (::getuid() == 0) {
      if (::unshare(CLONE_NEWNS) < 0) return "unshare: " + os::ErrnoText(errno);
    } else {
      if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) return "unshare: " + os::ErrnoText(errno);
      (void)os::WriteControlFile("/proc/self/setgroups", "deny");
      if (!os::WriteControlFile("/proc/self/uid_map", user + " " + user + " 1")) return "uid_map";
      if (!os::WriteControlFile("/proc/self/gid_map", group + " " + group + " 1")) return "gid_map";
    }
    if (os::MakeMountsPrivate() != 0) return "make the mounts private";
    const int error = os::MountTmpfs(stage.c_str(), "mode=755,size=64m,nr_inodes=100k", os::Execute::kAllowed);
    return error == 0 ? "" : "mount tmpfs: " + os::ErrnoText(error);
  }
};

class OverlayTest : public testing::Test {
 protected:
  OverlayTest() {
    std::filesystem::create_directory(lower_);
    std::filesystem::create_directory(stage_);
  }
  ~OverlayTest() override { (void)os::RemoveTree(base_.string()); }

  void SetUp() override {
    static const std::string unavailable = [this] {
      const std::string reason = Work([] { return 0; });
      upper_.Reset();
      return reason;
    }();
    if (!unavailable.empty()) GTEST_SKIP() << "no overlay here: " << unavailable;
  }

  // `program` works in the overlay; what it changed is in upper_ then. Returns what failed.
  std::string Work(const std::function<int()>& program) {
    const std::filesystem::path upper = stage_ / "upper";
    InChild child = InChild::Run(stage_, [&](int socket) -> std::string {
      for (const char* name : {"upper", "work", "merged"}) std::filesystem::create_directory(stage_ / name);
      const std::string options = "userxattr,lowerdir=" + lower_.string() + ",upperdir=" + upper.string() +
                                  ",workdir=" + (stage_ / "work").string();
      const std::string merged = stage_ / "merged";
      if (::mount("overlay", merged.c_str(), "overlay", 0, options.c_str()) < 0)
        return "mount overlay: " + os::ErrnoText(errno);
      if (::chdir(merged.c_str()) < 0) return "chdir";
      if (const int code = program(); code != 0) return "the program ended with " + std::to_string(code);
      const int fd = ::open(upper.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      const std::array<int, 1> fds = {fd};
      return os::SendMessage(socket, "upper", fds) ? "" : "send";
    });
    upper_ = std::move(child.fd);
    return child.failure;
  }
  void Shell(const std::string& script) {
    ASSERT_EQ(Work([&] { return std::system(script.c_str()); }), "");
  }

  virtual CommitJournal& journal() { return no_journal_; }
  CommitReport Commit() {
    const base::UniqueFd lower(::open(lower_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    auto report = workspace::Commit(upper_.get(), lower.get(), rules_, limits_, journal());
    EXPECT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(Leftovers(), "");
    return report ? std::move(*report) : CommitReport{};
  }
  CommitReport CommitOf(const std::string& script) {
    Shell(script);
    return upper_.valid() ? Commit() : CommitReport{};
  }

  void Put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((lower_ / path).parent_path());
    std::ofstream(lower_ / path) << text;
  }
  [[nodiscard]] std::string Get(const std::string& path) const {
    std::ostringstream text;
    text << std::ifstream(lower_ / path).rdbuf();
    return text.str();
  }
  [[nodiscard]] bool Exists(const std::string& path) const {
    return std::filesystem::exists(std::filesystem::symlink_status(lower_ / path));
  }
  [[nodiscard]] struct stat Facts(const std::string& path) const {
    struct stat facts{};
    EXPECT_EQ(::lstat((lower_ / path).c_str(), &facts), 0) << path;
    return facts;
  }
  [[nodiscard]] mode_t Mode(const std::string& path) const { return Facts(path).st_mode & ALLPERMS; }

  // Temporaries of a commit that are still there.
  [[nodiscard]] std::string Leftovers() const {
    std::string found;
    using Options = std::filesystem::directory_options;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(lower_, Options::skip_permission_denied))
      if (entry.path().filename().string().starts_with(".skerry-commit-")) found += entry.path().string();
    return found;
  }

  // Locked directories are in it at times, so it is removed as what a program left.
  static std::filesystem::path MakeBase() {
    std::string name = (std::filesystem::temp_directory_path() / "skerry-test-XXXXXX").string();
    return std::filesystem::canonical(::mkdtemp(name.data()));
  }

  std::filesystem::path base_ = MakeBase();
  std::filesystem::path lower_ = base_ / "lower";
  std::filesystem::path stage_ = base_ / "stage";
  base::UniqueFd upper_;
  ListedRules rules_;
  CommitJournal no_journal_;
  CommitLimits limits_;
};

// "path: reason", one a line.
inline std::string Lines(const std::vector<Withheld>& withheld) {
  std::string text;
  for (const Withheld& entry : withheld) text += entry.path + ": " + entry.reason + "\n";
  return text;
}

using Paths = std::vector<std::string>;

}  // namespace skerry::workspace
