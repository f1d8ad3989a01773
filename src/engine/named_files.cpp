#include "engine/named_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/printable.hpp"
#include "base/sha256.hpp"
#include "base/unique_fd.hpp"
#include "engine/implicit_inputs.hpp"
#include "engine/inside_path.hpp"
#include "workspace/beneath.hpp"
#include "workspace/path_errors.hpp"

namespace skerry::engine {
namespace {

constexpr std::size_t kMaxFiles = 1024;
constexpr std::size_t kMaxWords = 40'000;  // read and looked up, of all files together
constexpr std::size_t kMaxWordBytes = 1024;
constexpr std::size_t kMaxTries = 100'000;  // lookups of what a word could mean, where its first part exists
constexpr std::size_t kMaxEntered = 32;     // directories that code may change to, in which words are looked up too
constexpr std::size_t kMaxListed = 2'000;   // directories whose names are read
constexpr std::size_t kMaxNames = 20'000;   // of one directory
constexpr std::size_t kMaxNamesInAll = 100'000;        // of all directories together
constexpr std::size_t kMaxFollowed = 256U << 10U;      // bytes of a file whose own words are looked up
constexpr std::size_t kMaxFollowedBytes = 16U << 20U;  // of all such files together
// Endings that interpreters try when they are given a name without one.
constexpr auto kEndings =
    std::to_array<std::string_view>({".py", ".pyc", ".pyw", ".so", ".js", ".mjs", ".cjs", ".jsx", ".json", ".node",
                                     ".wasm", ".ts", ".mts", ".cts", ".tsx", ".sh"});
// Names that interpreters try in a directory that they are given.
constexpr auto kMainNames = std::to_array<std::string_view>({"__init__", "__main__", "index", "package"});

bool IsPathByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '/' ||
         c == '_' || c == '-' || c == '+' || c == '@' || c == '%' || static_cast<unsigned char>(c) >= 0x80;
}

bool HasCodeEnding(std::string_view name) {
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

// Whether a text holds commands, or other words.
enum class Prose { kCommands, kOther };

Prose ProseOf(std::string_view path, std::string_view text) {
  const std::string_view first = text.substr(0, std::min(text.find('\n'), std::size_t{64}));
  return path.ends_with(".sh") || (first.starts_with("#!") && first.ends_with("sh")) ? Prose::kCommands : Prose::kOther;
}

class Search {
  using SharedNames = std::shared_ptr<const std::vector<std::string>>;

 public:
  Search(int workspace, std::uint64_t max_bytes, const std::stop_token& stop)
      : workspace_(workspace), bytes_left_(max_bytes), stop_(stop) {}

  NamedFilesFound Run(const NamedFilesQuery& query) {
    std::string directory;
    if (TakeInside("", query.directory, directory) && !directory.empty()) Enter(directory);
    Prose prose = query.language == core::Language::kShell ? Prose::kCommands : Prose::kOther;
    for (const std::string_view text : query.texts) {
      LookUpWords(text, prose);
      prose = Prose::kOther;
    }
    while (!to_follow_.empty() && !Exhausted()) {
      const auto [text, kind] = std::move(to_follow_.front());
      to_follow_.pop_front();
      LookUpWords(text, kind);
    }
    if (stop_.stop_requested()) NoteUnread("what it names", "whoever asked has gone");
    return std::move(found_);
  }

 private:
  // Whether the search is over its limits.
  bool Exhausted() {
    const bool exhausted = words_.size() + read_commands_.size() + read_others_.size() >= kMaxWords ||
                           tries_ >= kMaxTries || stop_.stop_requested();
    if (exhausted) found_.all = false;
    return exhausted;
  }

  void LookUpWords(std::string_view text, Prose prose) {
    for (std::size_t at = 0; at < text.size() && !Exhausted();) {
      const std::size_t begin = at;
      while (at < text.size() && IsPathByte(text[at])) ++at;
      if (at > begin) LookUpWord(text.substr(begin, at - begin), prose);
      if (at == begin) ++at;
    }
    LookUpQuoted(text);
  }

  void LookUpWord(std::string_view word, Prose prose) {
    auto& read = prose == Prose::kCommands ? read_commands_ : read_others_;
    if (!read.emplace(word).second) return;
    const ImplicitInputs* tool = ImplicitInputsOf(word);
    if (tool != nullptr && (!tool->is_a_word || prose == Prose::kCommands) &&
        found_.tools.emplace(tool->program).second)
      for (const std::string_view file : tool->files) LookUp(file);
    LookUp(WithoutRoot(word));
  }

  // Names with blanks and other signs in them stand in quotes.
  void LookUpQuoted(std::string_view text) {
    std::size_t open = std::string_view::npos;
    for (std::size_t at = 0; at < text.size() && !Exhausted(); ++at) {
      if (text[at] != '"' && text[at] != '\'' && text[at] != '`') continue;
      if (open != std::string_view::npos && at - open <= kMaxWordBytes)
        LookUp(WithoutRoot(text.substr(open + 1, at - open - 1)));
      open = at;
    }
  }

  void LookUp(std::string_view word) {
    if (word.empty() || word.size() > kMaxWordBytes || word.starts_with('/')) return;
    if (Exhausted() || !words_.emplace(word).second) return;
    TakeWord("", word);
    // A word may add directories to the list.
    for (std::size_t at = 0; at < entered_.size(); ++at) TakeWord(std::string(entered_[at]), word);
  }

  // A directory that is named may be where the program goes first.
  void Enter(const std::string& directory) {
    if (std::ranges::find(entered_, directory) != entered_.end()) return;
    if (entered_.size() >= kMaxEntered) {
      found_.all = false;
      return;
    }
    entered_.push_back(directory);
    const std::set<std::string, std::less<>> known = words_;
    for (const std::string& word : known) {
      if (Exhausted()) return;
      TakeWord(directory, word);
    }
  }

  // Whether a name in the directory begins as the word does; a word that begins with a dot may be anything.
  bool MayHold(const std::string& directory, std::string_view word) {
    const std::string_view first = word.substr(0, word.find_first_of("./"));
    if (first.empty()) return true;
    const std::vector<std::string>* names = NamesOf(directory);
    if (names == nullptr) return false;
    const auto at = std::ranges::lower_bound(*names, first);
    return at != names->end() && at->starts_with(first);
  }

  void TakeWord(const std::string& directory, std::string_view word) {
    if (MayHold(directory, word)) TakeInDirectory(directory, word);
    // `require("package")`
    if (!Lists(directory, "node_modules")) return;
    const std::string modules = workspace::JoinPath(directory, "node_modules");
    if (MayHold(modules, word) && TakeNamed(workspace::JoinPath(modules, word))) found_.tools.emplace("node_modules");
  }

  void TakeInDirectory(const std::string& directory, std::string_view word) {
    TakeNamed(workspace::JoinPath(directory, word));
    if (word.find('.') != std::string_view::npos) {  // `import a.b`
      std::string dotted(word);
      std::ranges::replace(dotted, '.', '/');
      if (dotted.starts_with('/')) dotted.erase(0, dotted.find_first_not_of('/'));
      TakePackages(directory, dotted);
      TakeNamed(workspace::JoinPath(directory, dotted));
    }
  }

  // An import of a/b runs the package a first.
  void TakePackages(const std::string& directory, std::string_view path) {
    for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
      if (slash == 0 || slash + 1 == path.size()) continue;
      TakeWithEndings(workspace::JoinPath(directory, path.substr(0, slash)), "__init__");
    }
  }

  // Takes the path itself, and files that it names without their ending. False when there are none.
  bool TakeNamed(const std::string& path) {
    if (++tries_ >= kMaxTries) {
      found_.all = false;
      return false;
    }
    const std::string directory(workspace::ParentOf(path));
    const std::string_view name = workspace::NameOf(path);
    if (name.empty()) return false;
    return TakeWithEndings(directory, name);
  }

  bool TakeWithEndings(const std::string& directory, std::string_view name) {
    const std::vector<std::string>* names = NamesOf(directory);
    if (names == nullptr) return false;
    bool any = false;
    const std::string stem = std::string(name) + ".";
    for (auto at = std::ranges::lower_bound(*names, name); at != names->end() && at->starts_with(name); ++at) {
      const bool same = *at == name;
      if (!same && !(at->starts_with(stem) && HasCodeEnding(*at))) continue;
      any = true;
      Take(workspace::JoinPath(directory, *at));
    }
    return any;
  }

  [[nodiscard]] bool Lists(const std::string& directory, std::string_view name) {
    const std::vector<std::string>* names = NamesOf(directory);
    return names != nullptr && std::ranges::binary_search(*names, name);
  }

  // Sorted; nullptr where there is no such directory, or the limit is reached.
  const std::vector<std::string>* NamesOf(const std::string& directory) {
    if (const auto known = names_.find(directory); known != names_.end()) return known->second.get();
    if (names_.size() >= kMaxListed) {
      found_.all = false;
      return nullptr;
    }
    auto& names = names_[directory];
    names = ReadNames(directory);
    return names.get();
  }

  // Links to one directory share its names.
  SharedNames ReadNames(const std::string& directory) {
    const base::UniqueFd place = Follow(directory);
    struct stat facts{};
    if (!place.valid() || ::fstat(place.get(), &facts) != 0) return nullptr;
    SharedNames& known = names_by_inode_[{facts.st_dev, facts.st_ino}];
    if (known == nullptr) known = ListNames(place);
    return known;
  }

  SharedNames ListNames(const base::UniqueFd& place) {
    base::UniqueFd listing(::openat(place.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!listing.valid()) {
      if (errno != ENOTDIR) found_.all = false;
      return nullptr;
    }
    auto names = workspace::NamesIn(std::move(listing), std::min(kMaxNames, names_left_));
    if (!names) {
      found_.all = false;
      return nullptr;
    }
    names_left_ -= names->size();
    std::ranges::sort(*names);
    return std::make_shared<const std::vector<std::string>>(*std::move(names));
  }

  // A link may lead out of the workspace on the host, and into it inside, where the workspace has another path. Then
  // the link counts, and its target is looked up as a word.
  base::UniqueFd Follow(const std::string& path) {
    base::UniqueFd found = workspace::FollowBeneath(workspace_, path);
    if (found.valid() || errno == ENOENT || errno == ENOTDIR) return found;
    for (std::string_view part = path; !part.empty(); part = workspace::ParentOf(part)) NoteLink(std::string(part));
    return found;
  }

  void NoteLink(const std::string& path) {
    std::array<char, kMaxWordBytes> target{};
    const ssize_t size = ::readlinkat(workspace_, path.c_str(), target.data(), target.size());
    if (size <= 0 || !found_.files.emplace("link " + path, "").second) return;
    const std::string_view text(target.data(), static_cast<std::size_t>(size));
    found_.files["link " + path] = base::Sha256Hex(text);
    LookUp(WithoutRoot(text));
  }

  void Take(const std::string& path) {
    if (found_.files.contains(path)) return;
    const base::UniqueFd found = Follow(path);
    struct stat status{};
    if (!found.valid() || ::fstat(found.get(), &status) < 0) return;
    if (S_ISDIR(status.st_mode)) {
      if (!directories_.insert(path).second) return;
      Enter(path);
      for (const std::string_view name : kMainNames) TakeWithEndings(path, name);
      return;
    }
    if (!S_ISREG(status.st_mode)) return;
    if (found_.files.size() >= kMaxFiles) {
      found_.all = false;
      return;
    }
    found_.files[path] = Read(path, found.get(), status.st_size);
    TakeCompiled(path);
  }

  // Python runs compiled files in place of the source when they have noted the source's size and time.
  void TakeCompiled(const std::string& path) {
    if (!path.ends_with(".py")) return;
    const std::string_view name = workspace::NameOf(path);
    const std::string directory = workspace::JoinPath(workspace::ParentOf(path), "__pycache__");
    TakeWithEndings(directory, name.substr(0, name.size() - std::string_view(".py").size()));
  }

  void NoteUnread(const std::string& path, const std::string& why) {
    if (found_.unread.empty()) found_.unread = base::Printable(path) + ": " + why;
  }

  void FollowLater(const std::string& path, std::string text, off_t size) {
    if (static_cast<std::size_t>(size) > kMaxFollowed) {
      // The names in this file are unknown.
      if (HasCodeEnding(path)) found_.all = false;
      return;
    }
    if (followed_ >= kMaxFollowedBytes) {
      found_.all = false;
      return;
    }
    followed_ += text.size();
    const Prose prose = ProseOf(path, text);
    to_follow_.emplace_back(std::move(text), prose);
  }

  // The digest, or "" with the reason noted.
  std::string Read(const std::string& path, int handle, off_t size) {
    constexpr std::string_view kTooMuch = "there is more to read than an approval can be about";
    if (static_cast<std::uint64_t>(size) > bytes_left_) {
      NoteUnread(path, std::string(kTooMuch));
      return "";
    }
    const base::UniqueFd file = workspace::OpenAgain(handle, O_RDONLY | O_NONBLOCK);
    if (!file.valid()) {
      NoteUnread(path, workspace::PathError(errno).message);
      return "";
    }
    base::Sha256 hash;
    std::vector<char> buffer(256U << 10U);
    std::string kept;
    const bool follow = static_cast<std::size_t>(size) <= kMaxFollowed && followed_ < kMaxFollowedBytes;
    while (!stop_.stop_requested()) {
      const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) NoteUnread(path, workspace::PathError(errno).message);
      if (got < 0) return "";
      if (got == 0) {
        FollowLater(path, std::move(kept), size);
        return hash.FinishHex();
      }
      // The file may have grown since.
      if (static_cast<std::uint64_t>(got) > bytes_left_) {
        NoteUnread(path, std::string(kTooMuch));
        return "";
      }
      bytes_left_ -= static_cast<std::uint64_t>(got);
      const std::string_view part(buffer.data(), static_cast<std::size_t>(got));
      hash.Update(part);
      if (follow && kept.size() < kMaxFollowed) kept += part;
    }
    return "";
  }

  int workspace_;
  std::uint64_t bytes_left_;
  const std::stop_token& stop_;
  NamedFilesFound found_;
  std::size_t tries_ = 0;
  std::set<std::string, std::less<>> words_;
  std::set<std::string, std::less<>> read_commands_;
  std::set<std::string, std::less<>> read_others_;
  std::size_t followed_ = 0;
  std::deque<std::pair<std::string, Prose>> to_follow_;
  std::vector<std::string> entered_;
  std::set<std::string, std::less<>> directories_;
  std::map<std::string, SharedNames> names_;
  std::map<std::pair<dev_t, ino_t>, SharedNames> names_by_inode_;
  std::size_t names_left_ = kMaxNamesInAll;
};

}  // namespace

NamedFilesFound NamedFiles(const NamedFilesQuery& query, int workspace, const std::stop_token& stop) {
  return Search(workspace, query.max_bytes, stop).Run(query);
}

}  // namespace skerry::engine
