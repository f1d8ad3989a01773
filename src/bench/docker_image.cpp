#include "bench/docker_image.hpp"

#include <algorithm>
#include <iterator>

#include "bench/command.hpp"

namespace skerry::bench {
namespace {

void AddProgram(std::vector<std::string>& files, const std::string& path) {
  files.push_back(path);
  if (const auto ldd = FindProgram("ldd")) {
    // ldd fails for a static program, which needs no library.
    const auto output = OutputOf({{*ldd, path}, PlainEnvironment()});
    if (output) std::ranges::copy(LibrariesIn(*output), std::back_inserter(files));
  }
}

}  // namespace

std::vector<std::string> LibrariesIn(std::string_view ldd_output) {
  std::vector<std::string> libraries;
  while (!ldd_output.empty()) {
    std::string_view line = ldd_output.substr(0, ldd_output.find('\n'));
    ldd_output.remove_prefix(std::min(line.size() + 1, ldd_output.size()));
    // "libc.so.6 => /lib/libc.so.6 (0x…)" and "/lib64/ld-linux-x86-64.so.2 (0x…)"
    line = line.substr(0, line.find(" ("));
    const std::size_t slash = line.find('/');
    if (slash != std::string_view::npos) libraries.emplace_back(line.substr(slash));
  }
  return libraries;
}

std::vector<std::string> ImageFiles(const std::optional<std::string>& python) {
  std::vector<std::string> files;
  for (const char* path : {"/bin/sh", "/bin/true", "/bin/sleep"}) AddProgram(files, path);
  if (python) {
    AddProgram(files, *python);
    auto library = OutputOf(
        {{*python, "-c", "import sysconfig; print(sysconfig.get_path('stdlib'), end='')"}, PlainEnvironment()});
    if (library) files.push_back(std::move(*library));
  }
  std::ranges::sort(files);
  files.erase(std::ranges::unique(files).begin(), files.end());
  return files;
}

}  // namespace skerry::bench
