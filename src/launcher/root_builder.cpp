#include "launcher/root_builder.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "launcher/child_report.hpp"

namespace skerry::launcher {
namespace {

constexpr char kNullDevice[] = "dev/null";  // the sandbox's own
constexpr char kCover[] = ".cover";  // a file that is mounted over others; its name is removed before any program runs

int WriteFile(const char* path, const std::string& bytes, mode_t mode) {
  const int fd = ::open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
  if (fd < 0) return errno;
  const int error = ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) ? 0 : EIO;
  ::close(fd);
  return error;
}

int WriteSetting(const char* path, const std::string& value) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? 0 : errno;
  const int error = Outcome(::write(fd, value.data(), value.size()));
  ::close(fd);
  return error;
}

// Makes a mount point of the same type as the source. One that is there already will do.
int MakeMountPoint(const char* target, mode_t type) {
  const int made = S_ISDIR(type) ? Outcome(::mkdir(target, 0755)) : Outcome(::mknod(target, S_IFREG | 0644, 0));
  return made == EEXIST ? 0 : made;
}

int BindStep(const MountStep& step) {
  struct stat facts{};
  if (::stat(step.source.c_str(), &facts) < 0) return errno == ENOENT && step.missing == Missing::kSkip ? 0 : errno;
  const int made = MakeMountPoint(step.target.c_str(), facts.st_mode);
  return made != 0 ? made : os::BindMount(AT_FDCWD, step.source.c_str(), step.target.c_str(), step.options);
}

int TreeStep(const ChildPlan& plan, const MountStep& step, const TreeFds& fds, const char* target) {
  const auto index = static_cast<std::size_t>(step.tree);
  struct stat facts{};
  if (::fstatat(fds[index], "", &facts, AT_EMPTY_PATH) < 0) return errno;
  if (const int made = MakeMountPoint(target, facts.st_mode); made != 0) return made;
  if (plan.trees[index].tree < 0) return os::BindMount(fds[index], "", target, step.options);
  const int error = os::SetMountOptions(fds[index], step.options);
  return error != 0 ? error : Outcome(::move_mount(fds[index], "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH));
}

// The overlay is mounted in a place that is removed again, by names relative to it: inside, nothing tells where on the
// host the layers lie (B14). Programs leave an access time at every file that they read or map, by which commits know
// what they may have changed; reading the layer itself, as a commit does, leaves none.
int LayeredWorkspace(const ChildPlan& plan, const MountStep& step, const TreeFds& fds, WorkspaceViews& views) {
  const int staged = os::MountTmpfs(kStageTarget, step.data.c_str(), os::Execute::kAllowed, os::AccessTimes::kNone);
  if (staged != 0) return staged;
  if (::chdir(kStageTarget) < 0) return errno;
  for (const char* name : {"upper", "work"})
    if (::mkdir(name, 0755) < 0) return errno;
  if (const int error = TreeStep(plan, step, fds, "lower"); error != 0) return error;
  // userxattr: the only form that works without privilege on the host.
  if (::mount("overlay", "../workspace", "overlay", MS_NOSUID | MS_NODEV | MS_STRICTATIME,
              "lowerdir=lower,upperdir=upper,workdir=work,userxattr") < 0)
    return errno;
  views.changes = ::open("upper", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (views.changes < 0 || ::chdir("..") < 0) return errno;
  return Outcome(::umount2(kStageTarget, MNT_DETACH));
}

// Limited in bytes and in files: only the sandbox's own disk can be full (F04).
int EmptyWorkspace(const MountStep& step, WorkspaceViews& views) {
  if (const int error = os::MountTmpfs(step.target.c_str(), step.data.c_str(), os::Execute::kAllowed); error != 0)
    return error;
  views.changes = ::open(step.target.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return views.changes < 0 ? errno : 0;
}

// The /proc of the sandbox's own pid namespace; a program sees only its own user's processes (B01, B13).
int MountProcess(const char* target) {
  return Outcome(::mount("proc", target, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=invisible"));
}

// A devpts of the sandbox's own: no other terminal can be opened, and there are few of them (E32, F74).
int MountTerminals(const char* target) {
  return Outcome(
      ::mount("devpts", target, "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620,max=64"));
}

int CoverStep(const char* target, const std::string& bytes) {
  if (::access(target, F_OK) < 0) return 0;
  int error = WriteFile(kCover, bytes, 0444);
  if (error == 0) error = os::BindMount(AT_FDCWD, kCover, target, {.execute = os::Execute::kForbidden});
  ::unlink(kCover);
  return error;
}

// A name in /proc may be a file or a directory, depending on the kernel.
int MaskStep(const MountStep& step, Site& site) {
  const char* target = step.target.c_str();
  const int error =
      step.kind == StepKind::kMaskFile ? os::MaskFile(target, kNullDevice) : os::MaskDirectory(target, site.blank);
  if (error == ENOTDIR)
    return step.kind == StepKind::kMaskFile ? os::MaskDirectory(target, site.blank) : os::MaskFile(target, kNullDevice);
  if (error == 0 && step.kind == StepKind::kMaskDirectory && site.blank == nullptr && ::access(target, F_OK) == 0)
    site.blank = target;
  return error;
}

int CarryOut(const ChildPlan& plan, const MountStep& step, Site& site) {
  const char* target = step.target.c_str();
  switch (step.kind) {
    case StepKind::kDirectory: {
      const int made = Outcome(::mkdir(target, 0755));
      return made == EEXIST ? 0 : made;
    }
    case StepKind::kFile:
      return WriteFile(target, step.data, 0644);
    case StepKind::kLink:
      return Outcome(::symlink(step.source.c_str(), target));
    case StepKind::kBind:
      return BindStep(step);
    case StepKind::kTree:
      return TreeStep(plan, step, site.fds, target);
    case StepKind::kTmpfs:
      return os::MountTmpfs(target, step.data.c_str(), step.options.execute);
    case StepKind::kProcess:
      return MountProcess(target);
    case StepKind::kTerminals:
      return MountTerminals(target);
    case StepKind::kSetting:
      return WriteSetting(target, step.data);
    case StepKind::kMaskFile:
    case StepKind::kMaskDirectory:
      return MaskStep(step, site);
    case StepKind::kResize:
      return os::ResizeTmpfs(target, step.data.c_str(), step.options.execute);
    case StepKind::kSeal:
      return os::SealMount(target);
    case StepKind::kReadOnly:
      return os::MakeReadOnly(target);
    case StepKind::kCover:
      return CoverStep(target, step.data);
    case StepKind::kUnmount:
      return Outcome(::umount2(target, MNT_DETACH));
    case StepKind::kEmptyWorkspace:
      return EmptyWorkspace(step, site.views);
    case StepKind::kLayeredWorkspace:
      return LayeredWorkspace(plan, step, site.fds, site.views);
  }
  return EINVAL;
}

// A plain user's launcher cannot prepare the mount, so the path is opened again here. Meanwhile another directory or a
// link may have been put in its place: that one is refused.
void OpenTrees(const ChildPlan& plan, TreeFds& fds) {
  if (plan.trees.size() > fds.size()) Fail(plan, E2BIG, "open the host's directories");
  for (std::size_t i = 0; i < plan.trees.size(); ++i) {
    const HostTree& tree = plan.trees[i];
    fds[i] = tree.tree;
    if (tree.tree >= 0) continue;
    fds[i] = ::open(tree.path, O_PATH | O_CLOEXEC);
    if (fds[i] < 0) Fail(plan, errno, "open ", tree.path);
    struct stat facts{};
    Check(plan, Outcome(::fstat(fds[i], &facts)), "look at ", tree.path);
    if (facts.st_dev != tree.device || facts.st_ino != tree.inode) Fail(plan, ESTALE, "was replaced: ", tree.path);
  }
}

// Covers the paths that the configuration hides: they stay there, and no program can open them. Done in the new root,
// where links cannot lead outside, and before it becomes read-only.
void HidePaths(const ChildPlan& plan) {
  if (plan.hidden.empty()) return;
  Check(plan, WriteFile(kCover, {}, 0), "prepare what hides files");
  for (const std::string& path : plan.hidden) Check(plan, os::HidePath(path.c_str(), kCover), "hide ", path.c_str());
  Check(plan, Outcome(::unlink(kCover)), "tidy up after hiding files");
}

void CarryOutAll(const ChildPlan& plan, std::span<const MountStep> steps, Site& site) {
  for (const MountStep& step : steps) Check(plan, CarryOut(plan, step, site), "set up /", step.target.c_str());
}

void BuildSharedRoot(const ChildPlan& plan, Site& site) {
  // No mount here appears on the host, nor the other way round.
  Check(plan, os::MakeMountsPrivate(), "make mounts private");
  OpenTrees(plan, site.fds);
  Check(plan, os::MountTmpfs(plan.root_mount_point, "mode=755,size=1m,nr_inodes=1k", os::Execute::kAllowed),
        "mount an empty root on ", plan.root_mount_point);
  Check(plan, Outcome(::chdir(plan.root_mount_point)), "enter the new root");
  CarryOutAll(plan, plan.shared_mounts, site);
}

void EnterRoot(const ChildPlan& plan) {
  // After this no file of the host can be named (A02, C02, C10).
  Check(plan, os::PivotToCurrentDirectory(), "pivot_root");
  HidePaths(plan);
  // No program can be added beside those of the host (A12).
  Check(plan, Outcome(::mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, nullptr)),
        "make the root read-only");
}

}  // namespace

void BuildTemplate(const ChildPlan& plan) {
  Site site;
  BuildSharedRoot(plan, site);
  EnterRoot(plan);
}

void BuildFixedRoot(const ChildPlan& plan, Site& site) {
  if (plan.root == RootState::kToBuild) BuildSharedRoot(plan, site);
  CarryOutAll(plan, plan.fixed_mounts, site);
}

void BuildOwnRoot(const ChildPlan& plan, Site& site) {
  if (plan.root == RootState::kTemplate) OpenTrees(plan, site.fds);
  CarryOutAll(plan, plan.mounts, site);
  if (plan.root == RootState::kToBuild) EnterRoot(plan);
  if (site.views.changes < 0) return;
  site.views.merged = ::open("/workspace", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  Check(plan, site.views.merged < 0 ? errno : 0, "open /workspace");
  site.views.root = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  Check(plan, site.views.root < 0 ? errno : 0, "open the root");
  const std::array handles = {site.views.changes, site.views.merged, site.views.root};
  Check(plan, HandOut(plan.report, Handout::kViews, handles), "hand out the workspace");
}

}  // namespace skerry::launcher
