#include "archive/zip_fields.hpp"

#include "archive/byte_source.hpp"
#include "archive/entry_path.hpp"
#include "archive/zip_format.hpp"

namespace skerry::archive::zip {

std::unexpected<base::Error> Damaged(const std::string& what) {
  return base::Err(base::Code::kInvalidArgument, "the zip archive is damaged: " + what);
}

base::Result<std::string> ReadAt(int fd, std::uint64_t offset, std::size_t count) {
  std::string bytes(count, '\0');
  RangeSource source(fd, offset, count);
  SKERRY_ASSIGN_OR_RETURN(const std::size_t got, ReadFull(source, bytes));
  if (got != count) return Damaged("it is cut off");
  return bytes;
}

base::Result<std::optional<std::string>> NumbersIn64(std::string_view extra, std::string_view name) {
  std::optional<std::string> numbers;
  while (extra.size() >= 4) {
    Numbers field(extra);
    const std::uint16_t id = field.Take16();
    const std::uint16_t length = field.Take16();
    const std::string_view content = field.TakeBytes(length);
    if (!field.ok()) return Damaged("an extra field of " + QuotedPath(name) + " is cut off");
    extra = field.rest();
    if (id == kExtra64 && numbers) return Damaged(QuotedPath(name) + " has its sizes twice");
    if (id == kExtra64) numbers = content;
    // One byte of version, a checksum of the plain name, the name.
    if (id == kExtraUnicodePath && (content.size() < 5 || content.substr(5) != name))
      return base::Err(base::Code::kInvalidArgument, "the zip archive is refused: it has two names for one entry");
  }
  // Some programs pad with up to three zeros.
  if (extra.find_first_not_of('\0') != std::string_view::npos)
    return Damaged("an extra field of " + QuotedPath(name) + " cannot be read");
  return numbers;
}

}  // namespace skerry::archive::zip
