// A workspace, a stage and the world outside, for tests of both ways to resolve a path.
#pragma once

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "workspace/agent_workspace.hpp"

namespace skerry::workspace {

// A directory for the length of a test; in memory, where there is such a place, for tests that make very many files.
class ScratchDirectory {
 public:
  enum class On { kDisk, kMemory };
  explicit ScratchDirectory(On on) {
    const bool in_memory = on == On::kMemory && ::access("/dev/shm", W_OK) == 0;
    std::string name = (in_memory ? "/dev/shm" : std::filesystem::temp_directory_path()) / "skerry-test-XXXXXX";
    path_ = std::filesystem::canonical(::mkdtemp(name.data()));
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() { std::filesystem::remove_all(path_); }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class WorkspaceTest : public testing::TestWithParam<Resolver::Way> {
 protected:
  static constexpr std::size_t kLimit = 1U << 20U;
  static constexpr const char* kSecret = "the secret of the host";

  WorkspaceTest() { MakeIn(directory_.path()); }

  // Begins anew where very many files or directories cost little.
  void UseMemory() {
    memory_ = std::make_unique<ScratchDirectory>(ScratchDirectory::On::kMemory);
    MakeIn(memory_->path());
  }
  void MakeIn(const std::filesystem::path& top) {
    top_ = top;
    root_ = top / "root";
    outside_ = top / "outside";
    for (const char* name : {"root", "stage", "outside"}) std::filesystem::create_directory(top / name);
    PutOutside("secret", kSecret);
    Open({});
  }

  static base::UniqueFd DirectoryFd(const std::filesystem::path& path) {
    return base::UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  void Open(WorkspaceOptions options) {
    options.way = GetParam();
    workspace_ = std::make_unique<AgentWorkspace>(DirectoryFd(root_), DirectoryFd(top_ / "stage"), options);
  }
  AgentWorkspace& Files() { return *workspace_; }

  void Put(const std::string& path, const std::string& bytes) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << bytes;
  }
  void PutOutside(const std::string& path, const std::string& bytes) const {
    std::ofstream(outside_ / path, std::ios::binary) << bytes;
  }
  static std::string Get(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::string GetFile(const std::string& path) const { return Get(root_ / path); }
  void Link(const std::string& target, const std::string& path) const {
    std::filesystem::create_symlink(target, root_ / path);
  }
  [[nodiscard]] bool Exists(const std::string& path) const {
    return std::filesystem::exists(std::filesystem::symlink_status(root_ / path));
  }
  static mode_t Mode(const std::filesystem::path& path) {
    struct stat facts{};
    return ::lstat(path.c_str(), &facts) == 0 ? facts.st_mode & ALLPERMS : 0;
  }
  [[nodiscard]] bool StageIsEmpty() const { return std::filesystem::is_empty(top_ / "stage"); }

  base::Result<std::string> Read(const std::string& path) { return Files().Read(path, {}, kLimit); }
  std::vector<std::string> Names(const std::string& path) {
    std::vector<std::string> names;
    const auto listing = Files().List(path, {});
    EXPECT_TRUE(listing) << listing.error().message;
    if (listing)
      for (const Entry& entry : listing->entries) names.push_back(entry.path);
    return names;
  }

  // In a process of its own, where it may give up rights and mount; what it returns is empty or what went wrong.
  static std::string InChild(const std::function<std::string()>& work) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) return "pipe";
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string said = work();
      const std::string text = said.empty() ? "done" : said;
      _exit(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    ::close(ends[1]);
    std::string said;
    char buffer[4096];
    for (ssize_t count = 0; (count = ::read(ends[0], buffer, sizeof buffer)) > 0;)
      said.append(buffer, static_cast<std::size_t>(count));
    ::close(ends[0]);
    int status = 0;
    (void)::waitpid(child, &status, 0);
    if (said == "done") return {};
    return said.empty() ? "the child died with status " + std::to_string(status) : said;
  }
  // Mounts of the child are not seen by anybody else.
  static std::string PrivateMounts() {
    if (::unshare(CLONE_NEWNS) < 0) return "no mount namespace";
    return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0 ? "no private mounts" : "";
  }

  ScratchDirectory directory_{ScratchDirectory::On::kDisk};
  std::unique_ptr<ScratchDirectory> memory_;
  std::filesystem::path top_;
  std::filesystem::path root_;
  std::filesystem::path outside_;
  std::unique_ptr<AgentWorkspace> workspace_;
};

inline std::string WayName(const testing::TestParamInfo<Resolver::Way>& way) {
  return way.param == Resolver::Way::kKernel ? "Kernel" : "Walk";
}

#define SKERRY_BOTH_WAYS(suite) \
  INSTANTIATE_TEST_SUITE_P(Both, suite, testing::Values(Resolver::Way::kKernel, Resolver::Way::kWalk), WayName)

// What came of it, in a form to compare: "ok" or the name of the code.
template <class T>
std::string CodeOf(const base::Result<T>& result) {
  if (!result && result.error().code == base::Code::kInternal) return "internal: " + result.error().message;
  return result ? "ok" : std::string(base::RowOf(result.error().code).name);
}
template <class T>
std::string MessageOf(const base::Result<T>& result) {
  return result ? "ok" : result.error().message;
}

}  // namespace skerry::workspace
