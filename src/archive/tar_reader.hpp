// Reads a tar archive front to back: ustar, pax and GNU names and sizes. The reader is strict: it refuses what two
// programs could understand in two ways, because a program that checks and a program that unpacks would see different
// files.
#pragma once

#include <time.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "archive/byte_source.hpp"
#include "archive/entry_kind.hpp"
#include "archive/pax_records.hpp"
#include "archive/tar_header.hpp"
#include "base/result.hpp"

namespace skerry::archive {

struct TarEntry {
  EntryKind kind = EntryKind::kFile;
  std::string path;         // as it stands there: not empty, without a NUL; anything else is possible
  std::string link_target;  // of links; the same
  std::uint64_t size = 0;   // of files; 0 for all else
  std::uint32_t mode = 0;
  timespec mtime{};
};

// Memory stays below a few MB whatever the archive says. `source` is borrowed.
class TarReader {
 public:
  explicit TarReader(ByteSource& source) : source_(source) {}

  // The next entry; what was left of the one before is passed over. Nothing at the end of the archive: the source has
  // then been read to its end, and behind the archive there were only zeros. An archive without an end is cut off,
  // which is an error like everything else that is wrong.
  base::Result<std::optional<TarEntry>> Next();

  // The next bytes of the present file's content: at least one; 0 at the end of the content.
  base::Result<std::size_t> ReadContent(std::span<char> buffer);

 private:
  // What the headers before an entry say about it.
  struct Extension {
    std::optional<PaxRecords> pax;
    std::optional<std::string> long_name;
    std::optional<std::string> long_link;
  };

  base::Status SkipContent();
  base::Result<bool> ReadBlock(std::span<char, kTarBlockBytes> block);
  base::Status ReadEnd();
  base::Result<std::string> ReadExtension(const TarHeader& header);
  base::Result<bool> TakeExtension(const TarHeader& header, Extension& extension);
  base::Result<TarEntry> MakeEntry(const TarHeader& header, Extension extension);

  ByteSource& source_;
  bool started_ = false;
  std::optional<timespec> global_mtime_;
  std::uint64_t content_left_ = 0;
  std::uint64_t padding_left_ = 0;
};

}  // namespace skerry::archive
