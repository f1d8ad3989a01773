#include "cli/code_source.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::cli {
namespace {

constexpr std::size_t kMaxCodeBytes = 16U << 20U;

struct Extension {
  std::string_view ending;
  core::Language language;
};
constexpr std::array kExtensions = {
    Extension{".js", core::Language::kJavaScript},  Extension{".mjs", core::Language::kJavaScript},
    Extension{".cjs", core::Language::kJavaScript}, Extension{".jsx", core::Language::kJavaScript},
    Extension{".ts", core::Language::kJavaScript},  Extension{".tsx", core::Language::kJavaScript},
    Extension{".mts", core::Language::kJavaScript}, Extension{".sh", core::Language::kShell},
    Extension{".bash", core::Language::kShell},
};

base::Result<std::string> ReadCodeFile(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) < 0) return os::ErrnoErr("file '" + path + "'");
  if (S_ISDIR(facts.st_mode))
    return base::Err(base::Code::kInvalidArgument, path + ": is a directory, not a file with code");
  return os::ReadFile(path, kMaxCodeBytes);
}

}  // namespace

base::Result<std::string> ReadCode(const CodeSource& source) {
  if (source.file && source.code)
    return base::Err(base::Code::kInvalidArgument, "give the code as an argument or with --file, not both");
  if (source.IsStdin()) return os::ReadAll(STDIN_FILENO, kMaxCodeBytes);
  if (source.file) return ReadCodeFile(*source.file);
  if (source.code) return *source.code;
  return base::Err(base::Code::kInvalidArgument,
                   "there is no code; give it as an argument, with --file FILE, or as - for stdin");
}

core::Language LanguageOfFile(const std::string& file) {
  for (const Extension& row : kExtensions)
    if (file.ends_with(row.ending)) return row.language;
  return core::Language::kPython;
}

}  // namespace skerry::cli
