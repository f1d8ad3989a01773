#include "engine/named_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include "base/sha256.hpp"
#include "base/unique_fd.hpp"
#include "workspace/beneath.hpp"

namespace skerry::engine {
namespace {

constexpr std::size_t kMaxFiles = 256;
constexpr std::size_t kMaxWords = 4000;  // that are looked up, of all files together
constexpr std::size_t kMaxWordBytes = 1024;
constexpr std::size_t kMaxDirectories = 8;                      // in which words are looked up besides
constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20U;  // that are read, of all files together
constexpr off_t kMaxHashed = off_t{64} << 20U;
constexpr std::size_t kMaxFollowed = 256U << 10U;  // of a file whose own words are looked up
constexpr std::array<std::string_view, 9> kEndings = {"",    ".py", ".js",          ".mjs",     ".cjs",
                                                      ".sh", ".ts", "/__init__.py", "/index.js"};

bool IsPathByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '/' ||
         c == '_' || c == '-' || c == '+' || c == '@' || c == '%' || static_cast<unsigned char>(c) >= 0x80;
}

std::string_view WithoutRoot(std::string_view word) {
  constexpr std::string_view kInside = "/workspace/";
  if (word.starts_with(kInside)) word.remove_prefix(kInside.size());
  if (word == "/workspace") return "";
  while (word.starts_with("./")) word.remove_prefix(2);
  while (word.ends_with('.')) word.remove_suffix(1);
  return word;
}

class Search {
 public:
  explicit Search(int workspace) : workspace_(workspace) {}

  NamedFilesFound Run(const NamedFilesQuery& query) {
    if (const auto directory = WithoutRoot(query.directory); !directory.empty()) Enter(std::string(directory));
    for (const std::string_view text : query.texts) LookUpWords(text);
    while (!to_follow_.empty()) {
      const std::string text = std::move(to_follow_.front());
      to_follow_.pop_front();
      LookUpWords(text);
    }
    return {std::move(files_), all_};
  }

 private:
  void LookUpWords(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      while (at < text.size() && IsPathByte(text[at])) ++at;
      if (at > begin) LookUp(WithoutRoot(text.substr(begin, at - begin)));
      if (at == begin) ++at;
    }
    LookUpQuoted(text);
  }

  // Names with blanks and other signs in them stand in quotes.
  void LookUpQuoted(std::string_view text) {
    std::size_t open = std::string_view::npos;
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] != '"' && text[at] != '\'' && text[at] != '`') continue;
      if (open != std::string_view::npos && at - open <= kMaxWordBytes)
        LookUp(WithoutRoot(text.substr(open + 1, at - open - 1)));
      open = at;
    }
  }

  void LookUp(std::string_view word) {
    if (word.empty() || word.size() > kMaxWordBytes || word.starts_with('/')) return;
    if (words_.contains(word)) return;
    if (words_.size() >= kMaxWords) {
      all_ = false;
      return;
    }
    words_.emplace(word);
    TakeWord("", word);
    for (std::size_t at = 0; at < directories_.size(); ++at) TakeWord(directories_[at] + "/", word);
  }

  // A directory that is named may be where the program goes first.
  void Enter(const std::string& directory) {
    if (directories_.size() >= kMaxDirectories) {
      all_ = false;
      return;
    }
    directories_.push_back(directory);
    const std::set<std::string, std::less<>> known = words_;
    for (const std::string& word : known) TakeWord(directory + "/", word);
  }

  void TakeWord(const std::string& before, std::string_view name) {
    const std::string word = before + std::string(name);
    for (const std::string_view ending : kEndings) Take(word + std::string(ending));
    // `import a.b`
    std::string dotted(word);
    for (char& c : dotted)
      if (c == '.') c = '/';
    if (dotted != word) Take(dotted + ".py");
  }

  void Take(const std::string& path) {
    if (files_.contains(path) || links_.contains(path)) return;
    const base::UniqueFd found = workspace::FollowBeneath(workspace_, path);
    if (!found.valid()) return FollowLink(path);
    struct stat status{};
    if (::fstat(found.get(), &status) < 0) return;
    if (S_ISDIR(status.st_mode) && std::ranges::find(directories_, path) == directories_.end()) return Enter(path);
    if (!S_ISREG(status.st_mode)) return;
    if (files_.size() >= kMaxFiles) {
      all_ = false;
      return;
    }
    const std::string through = "/proc/self/fd/" + std::to_string(found.get());
    const base::UniqueFd file(::open(through.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    files_[path] = file.valid() && Affords(status.st_size) ? Hash(file.get(), status.st_size) : Stamp(status);
  }

  bool Affords(off_t size) {
    if (size > kMaxHashed || read_ + static_cast<std::uint64_t>(size) > kMaxBytes) return false;
    read_ += static_cast<std::uint64_t>(size);
    return true;
  }

  // One that leads out of the workspace by our reckoning, and back into it inside, where the workspace has another
  // path.
  void FollowLink(const std::string& path) {
    std::array<char, kMaxWordBytes> target{};
    const ssize_t size = ::readlinkat(workspace_, path.c_str(), target.data(), target.size());
    if (size <= 0) return;
    const std::string_view text(target.data(), static_cast<std::size_t>(size));
    links_.insert(path);
    files_["link " + path] = base::Sha256Hex(text);
    LookUp(WithoutRoot(text));
  }

  static std::string Stamp(const struct stat& status) {
    return std::to_string(status.st_size) + "@" + std::to_string(status.st_mtim.tv_sec) + "." +
           std::to_string(status.st_mtim.tv_nsec) + "/" + std::to_string(status.st_ctim.tv_sec) + "." +
           std::to_string(status.st_ctim.tv_nsec) + "#" + std::to_string(status.st_ino);
  }

  std::string Hash(int file, off_t size) {
    base::Sha256 hash;
    std::vector<char> buffer(64U << 10U);
    std::string kept;
    const bool follow = static_cast<std::size_t>(size) <= kMaxFollowed;
    for (;;) {
      const ssize_t got = ::read(file, buffer.data(), buffer.size());
      if (got <= 0) break;
      const std::string_view part(buffer.data(), static_cast<std::size_t>(got));
      hash.Update(part);
      if (follow && kept.size() < kMaxFollowed) kept += part;
    }
    if (follow) to_follow_.push_back(std::move(kept));
    return hash.FinishHex();
  }

  int workspace_;
  std::map<std::string, std::string> files_;
  std::set<std::string, std::less<>> words_;
  std::deque<std::string> to_follow_;
  std::vector<std::string> directories_;
  std::set<std::string, std::less<>> links_;
  std::uint64_t read_ = 0;
  bool all_ = true;
};

}  // namespace

NamedFilesFound NamedFiles(const NamedFilesQuery& query, int workspace) {
  return Search(workspace).Run(query);
}

}  // namespace skerry::engine
