// IsReadableText and FileDiff of unified_diff.hpp: the diff of a whole file.
#include <sys/stat.h>

#include <cstddef>
#include <cstdio>
#include <string>

#include "base/utf8.hpp"
#include "text/unified_diff.hpp"

namespace skerry::text {
namespace {

bool IsPlainAscii(std::string_view bytes, std::size_t at) {
  const auto byte = static_cast<unsigned char>(bytes[at]);
  if (byte == '\r') return at + 1 < bytes.size() && bytes[at + 1] == '\n';
  return (byte >= 0x20 && byte != 0x7F) || byte == '\t' || byte == '\n' || byte == '\f';
}

// `bytes` is well-formed UTF-8 and `at` begins a character of two or three bytes.
bool IsHostile(std::string_view bytes, std::size_t at) {
  const std::string_view character = bytes.substr(at, 3);
  const bool control = character >= "\xC2\x80" && character.substr(0, 2) <= "\xC2\x9F";
  const bool separator_or_override = character >= "\xE2\x80\xA8" && character <= "\xE2\x80\xAE";
  const bool isolate = character >= "\xE2\x81\xA6" && character <= "\xE2\x81\xA9";
  return control || separator_or_override || isolate;
}

// Quotes a name as git does with core.quotePath: in quotes and with octal numbers as soon as one byte needs it.
std::string QuotedName(std::string_view name) {
  std::string quoted;
  bool plain = true;
  for (const char character : name) {
    constexpr std::string_view kNamed = "\a\b\t\n\v\f\r\"\\";
    constexpr std::string_view kLetters = "abtnvfr\"\\";
    const auto byte = static_cast<unsigned char>(character);
    const std::size_t named = kNamed.find(character);
    if (named != std::string_view::npos) {
      quoted.append({'\\', kLetters[named]});
    } else if (byte < 0x20 || byte >= 0x7F) {
      quoted.append({'\\', static_cast<char>('0' + (byte >> 6U)), static_cast<char>('0' + ((byte >> 3U) & 7U)),
                     static_cast<char>('0' + (byte & 7U))});
    } else {
      quoted += character;
      continue;
    }
    plain = false;
  }
  return plain ? quoted : '"' + quoted + '"';
}

std::string NameOf(std::string_view side, std::string_view path) {
  return QuotedName(std::string(side).append(path));
}

std::string ModeLine(std::string_view what, unsigned mode) {
  char octal[16];
  (void)std::snprintf(octal, sizeof octal, "%06o", mode);
  return std::string(what).append(" ").append(octal).append("\n");
}

// The hash says that there is content, but the bytes were not given.
bool IsWithheld(const std::optional<DiffSide>& side) {
  constexpr std::string_view kHashOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  return side && side->bytes.empty() && !side->sha256.empty() && side->sha256 != kHashOfNothing;
}

std::string BinarySide(const std::string& name, const std::optional<DiffSide>& side) {
  if (!side) return "/dev/null";
  const std::string hash = side->sha256.empty() ? "" : "sha256 " + std::string(side->sha256);
  if (IsWithheld(side) && !side->size) return name + " (" + hash + ")";
  return name + " (" + std::to_string(side->size.value_or(side->bytes.size())) + " bytes" + (hash.empty() ? "" : ", ") +
         hash + ")";
}

// git ends such a line with a tab when the name has a space, so that `patch` finds where it ends.
std::string NameLine(std::string_view sign, const std::string& name, const std::optional<DiffSide>& side) {
  if (!side) return std::string(sign).append(" /dev/null\n");
  return std::string(sign).append(" ").append(name).append(name.contains(' ') ? "\t\n" : "\n");
}

std::string ContentDiff(std::string_view path, const std::optional<DiffSide>& before,
                        const std::optional<DiffSide>& after, const DiffOptions& options) {
  const std::string_view old_bytes = before ? before->bytes : "";
  const std::string_view new_bytes = after ? after->bytes : "";
  const bool withheld = IsWithheld(before) || IsWithheld(after);
  const bool same_hash = before && after && before->sha256 == after->sha256;
  if (withheld ? same_hash : old_bytes == new_bytes) return {};
  const std::string old_name = NameOf("a/", path);
  const std::string new_name = NameOf("b/", path);
  if (withheld || !IsReadableText(old_bytes) || !IsReadableText(new_bytes)) {
    return "Binary files " + BinarySide(old_name, before) + " and " + BinarySide(new_name, after) + " differ\n";
  }
  return NameLine("---", old_name, before) + NameLine("+++", new_name, after) +
         UnifiedHunks(old_bytes, new_bytes, options);
}

std::string ModeLines(const std::optional<DiffSide>& before, const std::optional<DiffSide>& after) {
  if (!before) return ModeLine("new file mode", after->mode);
  if (!after) return ModeLine("deleted file mode", before->mode);
  if (before->mode == after->mode) return {};
  return ModeLine("old mode", before->mode) + ModeLine("new mode", after->mode);
}

// The permissions of a link mean nothing, and git writes none.
std::optional<DiffSide> Normalized(std::optional<DiffSide> side) {
  if (side && S_ISLNK(side->mode)) side->mode = S_IFLNK;
  return side;
}

}  // namespace

bool IsReadableText(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const bool ascii = static_cast<unsigned char>(bytes[at]) < 0x80;
    if (ascii ? !IsPlainAscii(bytes, at) : IsHostile(bytes, at)) return false;
  }
  return base::IsValidUtf8(bytes);
}

std::string FileDiff(std::string_view path, const std::optional<DiffSide>& before, const std::optional<DiffSide>& after,
                     const DiffOptions& options) {
  if (!before && !after) return {};
  if (before && after && (before->mode & S_IFMT) != (after->mode & S_IFMT)) {
    return FileDiff(path, before, std::nullopt, options) + FileDiff(path, std::nullopt, after, options);
  }
  const auto old_side = Normalized(before);
  const auto new_side = Normalized(after);
  const std::string body = ModeLines(old_side, new_side) + ContentDiff(path, old_side, new_side, options);
  if (body.empty()) return {};
  return "diff --git " + NameOf("a/", path) + " " + NameOf("b/", path) + "\n" + body;
}

}  // namespace skerry::text
