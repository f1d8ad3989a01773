// An archive of any bytes, unpacked as by `skerry image import`, and once more as a layer on top of another.
//
// The rules: nothing outside the work directory is made, changed or linked to, whatever the archive has; and an
// unpacked tree has only files, directories and links of this user, without set-id bits, that their owner can read.
//
// Most changes of a byte only break a header's checksum, so the mutator corrects the checksums.
#include <fcntl.h>
#include <fts.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "archive/tar_header.hpp"
#include "base/unique_fd.hpp"
#include "image/image_source.hpp"
#include "image/import_budget.hpp"
#include "image/layer.hpp"
#include "image/work_directory.hpp"
#include "os/files.hpp"
#include "os/remove_tree.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

namespace archive = skerry::archive;
namespace base = skerry::base;
namespace image = skerry::image;
namespace os = skerry::os;

constexpr char kPrecious[] = "precious";
constexpr image::ImportLimits kLimits{.max_bytes = 16U << 20U, .max_entries = 2000};

[[noreturn]] void Break(const std::string& rule) {
  std::fprintf(stderr, "broken: %s\n", rule.c_str());
  std::abort();
}

base::UniqueFd OpenDirectory(const std::string& path) {
  base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) Break("the fuzzer cannot open " + path);
  return fd;
}

// One for all runs: `outside` with a precious file in it, and beside it the work directory of each run.
class Playground {
 public:
  Playground() {
    std::string name = std::string(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + "/skerry-fuzz-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) Break("the fuzzer cannot make a directory");
    path_ = name;
    ::mkdir(Outside().c_str(), 0777);
    const base::UniqueFd file(::open((Outside() + "/" + kPrecious).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    (void)os::WriteAll(file.get(), kPrecious);
  }
  Playground(const Playground&) = delete;
  Playground& operator=(const Playground&) = delete;
  ~Playground() { (void)os::RemoveTree(path_); }

  [[nodiscard]] std::string Work() const { return path_ + "/work"; }

  void CheckOutside() const {
    struct stat facts{};
    if (::stat((Outside() + "/" + kPrecious).c_str(), &facts) < 0 || facts.st_nlink != 1)
      Break("a file outside was removed or linked to");
    if (os::ReadFile(Outside() + "/" + kPrecious, 100) != kPrecious) Break("a file outside was changed");
    if (CountIn(Outside()) != 1 || CountIn(path_) != 2) Break("something was made outside");
  }

 private:
  [[nodiscard]] std::string Outside() const { return path_ + "/outside"; }

  static std::size_t CountIn(std::string path) {
    char* const paths[] = {path.data(), nullptr};
    FTS* const walk = ::fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, nullptr);
    (void)::fts_read(walk);
    std::size_t count = 0;
    for (const FTSENT* child = ::fts_children(walk, FTS_NAMEONLY); child != nullptr; child = child->fts_link) ++count;
    ::fts_close(walk);
    return count;
  }

  std::string path_;
};

void CheckTree(std::string path) {
  char* const paths[] = {path.data(), nullptr};
  FTS* const walk = ::fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, nullptr);
  for (const FTSENT* entry = ::fts_read(walk); entry != nullptr; entry = ::fts_read(walk)) {
    if (entry->fts_info == FTS_DP) continue;
    const struct stat& facts = *entry->fts_statp;
    if (S_ISLNK(facts.st_mode)) continue;
    if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) Break("the tree has something that is no file");
    if ((facts.st_mode & (S_ISUID | S_ISGID | S_ISVTX)) != 0) Break("the tree has a set-id bit");
    if ((facts.st_mode & S_IRUSR) == 0) Break("the tree has something that its owner cannot read");
    if (S_ISDIR(facts.st_mode) && (facts.st_mode & S_IRWXU) != S_IRWXU) Break("the tree has a closed directory");
    if (facts.st_uid != ::geteuid()) Break("the tree has something of another user");
  }
  ::fts_close(walk);
}

// Unpacks the archive on top of a layer that has links that lead out.
void UnpackAsLayer(int archive_fd, const std::string& tree) {
  ::mkdir(tree.c_str(), 0755);
  const base::UniqueFd root = OpenDirectory(tree);
  ::mkdirat(root.get(), "d", 0755);
  ::mkdirat(root.get(), "d/e", 0755);
  (void)::symlinkat("../../outside", root.get(), "up");
  (void)::symlinkat("d", root.get(), "l");
  image::ImportBudget budget(kLimits, nullptr);
  (void)image::UnpackLayer(archive_fd, image::LayerPlace::kOnOthers, root.get(), budget);
  CheckTree(tree);
}

void Unpack(const Playground& playground, std::string_view bytes) {
  const base::UniqueFd archive(::memfd_create("archive", MFD_CLOEXEC));
  (void)os::WriteAll(archive.get(), bytes);
  ::mkdir(playground.Work().c_str(), 0700);
  const base::UniqueFd work = OpenDirectory(playground.Work());
  image::ImportBudget budget(kLimits, nullptr);
  (void)image::UnpackSource("/proc/self/fd/" + std::to_string(archive.get()), work.get(), budget);
  CheckTree(playground.Work());
  UnpackAsLayer(archive.get(), playground.Work() + "/layered");
  playground.CheckOutside();
  if (!os::RemoveTree(playground.Work())) Break("the tree cannot be removed");
}

void RepairChecksums(std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kBlock = archive::kTarBlockBytes;
  constexpr std::size_t kOffset = 148;
  for (std::size_t at = 0; at + kBlock <= size;) {
    std::uint8_t* const block = data + at;
    if (std::all_of(block, block + kBlock, [](std::uint8_t byte) { return byte == 0; })) return;
    std::memset(block + kOffset, ' ', 8);
    unsigned sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i) sum += block[i];
    char text[8];
    std::snprintf(text, sizeof text, "%06o", sum);
    std::memcpy(block + kOffset, text, 7);
    const auto header = archive::ParseTarHeader(archive::TarBlock(reinterpret_cast<const char*>(block), kBlock));
    const std::uint64_t content = header ? header->size : 0;
    if (content > size) return;
    at += kBlock + (static_cast<std::size_t>(content) + kBlock - 1) / kBlock * kBlock;
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  size = LLVMFuzzerMutate(data, size, max_size);
  const bool is_compressed =
      size >= 2 && ((data[0] == 0x1F && data[1] == 0x8B) || (data[0] == 0x28 && data[1] == 0xB5));
  if (seed % 8 != 0 && !is_compressed) RepairChecksums(data, size);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Playground playground;
  Unpack(playground, {reinterpret_cast<const char*>(data), size});
  return 0;
}
