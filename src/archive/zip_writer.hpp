// Writes a zip archive front to back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "archive/archive_writer.hpp"
#include "archive/byte_sink.hpp"

namespace skerry::archive {

// Files are deflated, and their sizes stand behind them; modes and links are kept as Unix programs do it; large files
// and many entries use zip64. Times are in UTC, in whole seconds. A name that is not UTF-8 is stored byte by byte and
// not marked as such. The table of contents is held in memory until the end: kTooLarge when it exceeds 128 MB.
// `sink` is borrowed.
class ZipWriter : public ArchiveWriter {
 public:
  explicit ZipWriter(ByteSink& sink) : sink_(sink) {}

  base::Status AddDirectory(const Member& member) override;
  base::Status AddLink(const Member& member, std::string_view target) override;
  base::Status AddFile(const Member& member, std::uint64_t size, ByteSource& content) override;
  base::Status Finish() override;

 private:
  struct Record;
  enum class Sizes { kAhead, kBehind };

  base::Status AddStored(Record& record, std::string_view content);
  base::Status WriteLocal(const Record& record, Sizes sizes);
  base::Status WriteDeflated(Record& record, ByteSource& content);
  base::Status AppendCentral(const Record& record);
  base::Status Write(std::string_view bytes);

  ByteSink& sink_;
  std::uint64_t written_ = 0;
  std::uint64_t count_ = 0;
  std::string central_;
};

}  // namespace skerry::archive
