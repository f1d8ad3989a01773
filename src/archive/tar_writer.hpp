// Writes a tar archive: ustar, with pax headers for what does not fit there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "archive/archive_writer.hpp"
#include "archive/byte_sink.hpp"

namespace skerry::archive {

// Keeps names of any length and of any bytes, sizes above 8 GB and times finer than a second. Owners are not kept:
// every entry belongs to user and group 0. `sink` is borrowed.
class TarWriter : public ArchiveWriter {
 public:
  explicit TarWriter(ByteSink& sink) : sink_(sink) {}

  base::Status AddDirectory(const Member& member) override;
  base::Status AddLink(const Member& member, std::string_view target) override;
  base::Status AddFile(const Member& member, std::uint64_t size, ByteSource& content) override;
  base::Status Finish() override;

 private:
  struct Heading {
    char type = '0';
    std::string_view path;
    std::string_view target;
    std::uint64_t size = 0;
  };
  base::Status WriteHeaders(const Member& member, const Heading& heading);
  base::Status WritePadding(std::uint64_t size);

  ByteSink& sink_;
};

}  // namespace skerry::archive
