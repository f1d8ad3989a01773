#include "workspace/change_journal.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::workspace {
namespace {

constexpr const char* kFile = "journal";
constexpr std::string_view kComplete = "complete";
constexpr std::string_view kUndone = "undo";
constexpr std::string_view kUndoneAll = "undo all";
constexpr std::size_t kMaxJournalBytes = std::size_t{256} << 20U;

using Kind = JournalRecord::Kind;
constexpr std::array<std::string_view, 7> kWords = {"made", "replaced", "removed", "mkdir", "rmdir", "mode", "time"};

constexpr std::string_view kDigits = "0123456789abcdef";

// A path as one word of a line: all bytes that are not plain as %XX.
std::string Escaped(std::string_view path) {
  std::string text;
  text.reserve(path.size());
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x7f && c != '%') {
      text += c;
    } else {
      text += '%';
      text += kDigits[byte >> 4U];
      text += kDigits[byte & 15U];
    }
  }
  return text;
}

std::optional<std::string> Unescaped(std::string_view text) {
  std::string path;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      path += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const std::size_t high = kDigits.find(text[i + 1]);
    const std::size_t low = kDigits.find(text[i + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    path += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return path;
}

std::string LineOf(const JournalRecord& record) {
  std::string line(kWords[static_cast<std::size_t>(record.kind)]);
  for (const std::uint64_t number : {record.kept, record.inode, record.mode}) line += ' ' + std::to_string(number);
  line += ' ' + std::to_string(record.seconds) + ' ' + std::to_string(record.nanoseconds);
  return line + ' ' + (record.sha256.empty() ? "-" : record.sha256) + ' ' + Escaped(record.path);
}

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::string_view first = line.substr(0, line.find(' '));
    words.push_back(first);
    line.remove_prefix(std::min(first.size() + 1, line.size()));
  }
  return words;
}

template <class Number>
bool Parse(std::string_view word, Number& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

std::optional<JournalRecord> ParseLine(std::string_view line) {
  const std::vector<std::string_view> words = WordsOf(line);
  constexpr std::size_t kCount = 8;
  if (words.size() != kCount) return std::nullopt;
  JournalRecord record;
  const auto* const word = std::ranges::find(kWords, words[0]);
  if (word == kWords.end()) return std::nullopt;
  record.kind = static_cast<Kind>(word - kWords.begin());
  const bool numbers = Parse(words[1], record.kept) && Parse(words[2], record.inode) && Parse(words[3], record.mode) &&
                       Parse(words[4], record.seconds) && Parse(words[5], record.nanoseconds);
  auto path = Unescaped(words[7]);
  if (!numbers || !path) return std::nullopt;
  record.path = std::move(*path);
  if (words[6] != "-") record.sha256 = words[6];
  return record;
}

base::Status WriteLine(int file, std::string_view line) {
  if (const auto written = os::WriteAll(file, line); !written)
    return base::Err(written.error().code, "the journal of the changes cannot be written: " + written.error().message);
  return {};
}

}  // namespace

std::string KeptEntry(std::uint64_t number) {
  return "k" + std::to_string(number);
}

base::Status ChangeJournal::Open() {
  if (directory_.valid()) return {};
  constexpr const char* kWhat = "make the journal of the changes";
  if (::mkdirat(parent_, name_.c_str(), S_IRWXU) < 0) return os::ErrnoErr(kWhat);
  base::UniqueFd directory(::openat(parent_, name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory.valid()) return os::ErrnoErr(kWhat);
  file_.Reset(::openat(directory.get(), kFile, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file_.valid()) return os::ErrnoErr(kWhat);
  directory_ = std::move(directory);
  return {};
}

base::Result<int> ChangeJournal::Stage() {
  SKERRY_RETURN_IF_ERROR(Open());
  return directory_.get();
}

base::Status ChangeJournal::Append(const JournalRecord& record) {
  return AppendLine(LineOf(record));
}

base::Status ChangeJournal::AppendLine(std::string line) {
  SKERRY_RETURN_IF_ERROR(Open());
  line += '\n';
  // Room for the final line is kept, so that a journal that is read again is never cut.
  if (length_ + line.size() > kMaxJournalBytes - kComplete.size() - 1 && line != std::string(kComplete) + '\n')
    return base::Err(base::Code::kTooLarge, "more was changed than can be noted");
  const auto written = WriteLine(file_.get(), line);
  if (written) {
    length_ += line.size();
    return {};
  }
  // Half a line would spoil the next one.
  if (::ftruncate(file_.get(), static_cast<off_t>(length_)) < 0) file_.Reset();
  return written;
}

base::Status ChangeJournal::BeforeMove(const std::string& path, const Place& place, const struct stat& made,
                                       const std::string& sha256) {
  JournalRecord record{.path = path, .inode = made.st_ino, .sha256 = sha256};
  if (!place.entry) return Append(record);
  record.kind = Kind::kReplaced;
  record.kept = ++kept_;
  SKERRY_RETURN_IF_ERROR(Append(record));
  // A second name for the old content, until the new one takes the first.
  if (::linkat(place.parent.get(), place.name.c_str(), directory_.get(), KeptEntry(record.kept).c_str(), 0) < 0)
    return os::ErrnoErr("the old content cannot be kept");
  return {};
}

base::Status ChangeJournal::Remove(const std::string& path, const Place& place) {
  const JournalRecord record{.kind = Kind::kRemoved, .path = path, .kept = ++kept_};
  SKERRY_RETURN_IF_ERROR(Append(record));
  if (::renameat(place.parent.get(), place.name.c_str(), directory_.get(), KeptEntry(record.kept).c_str()) < 0)
    return os::ErrnoErr("cannot be deleted");
  return {};
}

base::Status ChangeJournal::BeforeDirectory(const std::string& path) {
  return Append({.kind = Kind::kDirectoryMade, .path = path});
}

base::Status ChangeJournal::BeforeRemoval(const std::string& path, const struct stat& directory) {
  return Append({.kind = Kind::kDirectoryRemoved, .path = path, .mode = directory.st_mode & ALLPERMS});
}

base::Status ChangeJournal::BeforeMode(const std::string& path, const struct stat& directory) {
  return Append({.kind = Kind::kMode, .path = path, .mode = directory.st_mode & ALLPERMS});
}

base::Status ChangeJournal::BeforeTime(const std::string& path, const struct stat& file) {
  return Append({.kind = Kind::kTime,
                 .path = path,
                 .inode = file.st_ino,
                 .seconds = file.st_mtim.tv_sec,
                 .nanoseconds = file.st_mtim.tv_nsec});
}

base::Status ChangeJournal::Complete() {
  return IsEmpty() ? base::Status{} : AppendLine(std::string(kComplete));
}

base::Result<Journal> ReadJournal(int directory) {
  const base::UniqueFd file(::openat(directory, kFile, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.valid() && errno == ENOENT) return Journal{};  // killed before the first record
  if (!file.valid()) return os::ErrnoErr("read the journal of the changes");
  SKERRY_ASSIGN_OR_RETURN(const std::string text, os::ReadAll(file.get(), kMaxJournalBytes));
  Journal journal;
  std::string_view rest = text;
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (line == kComplete) {
      journal.complete = true;
    } else if (line == kUndone || line == kUndoneAll) {
      journal.undone = line == kUndoneAll ? LaterWork::kGoes : LaterWork::kStays;
    } else if (auto record = ParseLine(line)) {
      journal.records.push_back(std::move(*record));
    } else {
      return base::Err(base::Code::kInternal, "the journal of the changes has a line that is none");
    }
  }
  return journal;
}

base::Status MarkUndone(int directory, LaterWork later) {
  const base::UniqueFd file(::openat(directory, kFile, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC));
  if (!file.valid()) return os::ErrnoErr("write the journal of the changes");
  return WriteLine(file.get(), std::string(later == LaterWork::kGoes ? kUndoneAll : kUndone) + '\n');
}

}  // namespace skerry::workspace
