#include "os/group_usage.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include "base/unique_fd.hpp"
#include "os/directory.hpp"
#include "os/process_tree.hpp"

namespace skerry::os {
namespace {

// A control file, read without allocation: this is done for every sandbox each second.
class SmallFile {
 public:
  explicit SmallFile(const std::string& path) {
    const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) return;
    while (size_ < buffer_.size()) {
      const ssize_t count = ::read(fd.get(), buffer_.data() + size_, buffer_.size() - size_);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;
      size_ += static_cast<std::size_t>(count);
    }
  }

  [[nodiscard]] std::string_view text() const { return {buffer_.data(), size_}; }

 private:
  std::array<char, 16384> buffer_;  // NOLINT(cppcoreguidelines-pro-type-member-init): what is filled is read
  std::size_t size_ = 0;
};

// Takes the first number off `text`, with all that stands before it.
std::optional<std::uint64_t> TakeNumber(std::string_view& text) {
  const std::size_t start = text.find_first_not_of(" \t\n");
  if (start == std::string_view::npos) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + start, text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<std::uint64_t> NumberIn(const std::string& path) {
  const SmallFile file(path);
  std::string_view text = file.text();
  return TakeNumber(text);
}

std::string_view TakeLine(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

void SkipWords(std::string_view& text, int count) {
  for (int i = 0; i < count; ++i) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    text.remove_prefix(std::min(text.find(' '), text.size()));
  }
}

// Resident memory without that of files and shared memory; 0 for a process that has released its memory.
std::uint64_t AnonymousBytesIn(const std::string& directory) {
  static const auto kPage = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const SmallFile file(directory + "/statm");
  std::string_view text = file.text();
  SkipWords(text, 1);
  const std::uint64_t resident = TakeNumber(text).value_or(0);
  const std::uint64_t shared = TakeNumber(text).value_or(0);
  return resident > shared ? (resident - shared) * kPage : 0;
}

// When the first thread of a process has ended and others live on, the file of the process shows nothing; those of the
// threads do.
std::uint64_t AnonymousBytes(const std::string& process, std::uint64_t tasks) {
  const std::uint64_t bytes = AnonymousBytesIn(process);
  if (bytes != 0 || tasks < 2) return bytes;
  const Directory directory(::opendir((process + "/task").c_str()));
  while (const dirent* entry = directory == nullptr ? nullptr : ::readdir(directory.get())) {
    if (IsDots(entry->d_name)) continue;
    if (const std::uint64_t found = AnonymousBytesIn(process + "/task/" + entry->d_name); found != 0) return found;
  }
  return 0;
}

// "pid (name) state parent … utime stime cutime cstime priority nice threads …"; the name may have any character.
void Add(ProcessesUse& use, pid_t pid) {
  static const auto kTick = std::chrono::nanoseconds(std::chrono::seconds(1)) / ::sysconf(_SC_CLK_TCK);
  const std::string process = "/proc/" + std::to_string(pid);
  const SmallFile file(process + "/stat");
  std::string_view text = file.text();
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return;
  text.remove_prefix(name_end + 1);
  SkipWords(text, 11);
  for (int i = 0; i < 4; ++i) use.cpu_time += kTick * TakeNumber(text).value_or(0);
  SkipWords(text, 2);
  const std::uint64_t tasks = TakeNumber(text).value_or(0);
  use.tasks += tasks;
  use.memory_bytes += AnonymousBytes(process, tasks);
}

}  // namespace

std::optional<std::uint64_t> KeyedNumber(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ' ') continue;
    line.remove_prefix(key.size());
    return TakeNumber(line);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> MemoryOf(const GroupPlace& memory) {
  const bool second = memory.version == CgroupVersion::kTwo;
  return NumberIn(memory.directory + (second ? "/memory.current" : "/memory.usage_in_bytes"));
}

std::optional<std::uint64_t> DroppableMemoryOf(const GroupPlace& memory) {
  const bool second = memory.version == CgroupVersion::kTwo;
  return KeyedNumber(SmallFile(memory.directory + "/memory.stat").text(),
                     second ? "inactive_file" : "total_inactive_file");
}

std::optional<std::chrono::nanoseconds> CpuTimeOf(const GroupPlace& cpu) {
  if (cpu.version == CgroupVersion::kOne) {
    const auto time = NumberIn(cpu.directory + "/cpuacct.usage");
    return time ? std::optional(std::chrono::nanoseconds(*time)) : std::nullopt;
  }
  const auto time = KeyedNumber(SmallFile(cpu.directory + "/cpu.stat").text(), "usage_usec");
  return time ? std::optional<std::chrono::nanoseconds>(std::chrono::microseconds(*time)) : std::nullopt;
}

std::optional<std::uint64_t> TasksOf(const GroupPlace& pids) {
  return NumberIn(pids.directory + "/pids.current");
}

ProcessesUse UseOfProcesses(std::span<const pid_t> roots) {
  ProcessesUse use;
  for (const pid_t root : roots)
    for (const pid_t pid : ProcessTree(root)) Add(use, pid);
  return use;
}

// Two lines of headings; then "name: bytes packets errs drop fifo frame compressed multicast bytes …".
NetworkUse ParseNetworkUse(std::string_view text) {
  NetworkUse use;
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view name = line.substr(0, colon);
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    line.remove_prefix(colon + 1);
    const auto received = TakeNumber(line);
    SkipWords(line, 7);
    const auto sent = TakeNumber(line);
    if (name == "lo" || !received || !sent) continue;
    use.received_bytes += *received;
    use.sent_bytes += *sent;
    ++use.interfaces;
  }
  return use;
}

std::optional<NetworkUse> NetworkUseOf(pid_t pid) {
  const SmallFile file("/proc/" + std::to_string(pid) + "/net/dev");
  if (file.text().empty()) return std::nullopt;
  return ParseNetworkUse(file.text());
}

}  // namespace skerry::os
