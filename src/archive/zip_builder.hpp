// For tests: zip archives made byte by byte, also wrong ones.
#pragma once

#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "archive/zip_format.hpp"
#include "base/unique_fd.hpp"

namespace skerry::archive {

inline std::string RawDeflate(const std::string& bytes) {
  z_stream stream{};
  ::deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY);
  std::string out(::deflateBound(&stream, bytes.size()) + 64, '\0');
  std::string input = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

// An entry field by field; what is not set is as `zip` would write it.
struct RawZipEntry {
  std::string name;
  std::string content;
  std::uint32_t mode = 0100644;
  std::uint16_t method = zip::kStored;
  unsigned flags = 0;
  std::string extra;
  unsigned host = zip::kHostUnix;
  // Instead of the true ones.
  std::optional<std::string> local_name;
  std::optional<std::uint16_t> local_method;
  std::optional<unsigned> local_flags;
  std::optional<std::uint32_t> checksum;
  std::optional<std::uint32_t> local_checksum;
  std::optional<std::uint32_t> size;
  std::optional<std::uint32_t> local_size;
  std::optional<std::uint32_t> compressed;
  std::optional<std::uint32_t> offset;
  std::optional<std::string> descriptor;
  std::string raw;  // the compressed content
  std::uint16_t disk = 0;
};

class ZipBuilder {
 public:
  ZipBuilder& Entry(const RawZipEntry& entry) {
    using zip::Four;
    using zip::Two;
    const std::string packed = entry.method == zip::kDeflated ? RawDeflate(entry.content) : entry.content;
    const std::string& raw = entry.raw.empty() ? packed : entry.raw;
    const auto true_sum = static_cast<std::uint32_t>(
        ::crc32_z(0, reinterpret_cast<const Bytef*>(entry.content.data()), entry.content.size()));
    const std::uint32_t sum = entry.checksum.value_or(true_sum);
    const auto size = entry.size.value_or(static_cast<std::uint32_t>(entry.content.size()));
    const auto compressed = entry.compressed.value_or(static_cast<std::uint32_t>(raw.size()));
    const bool behind = (entry.flags & zip::kHasDescriptor) != 0;
    const std::string& name = entry.local_name ? *entry.local_name : entry.name;
    const std::size_t at = bytes_.size();
    bytes_ += Four(zip::kLocalSignature) + Two(20) + Two(entry.local_flags.value_or(entry.flags)) +
              Two(entry.local_method.value_or(entry.method)) + Four(0);
    bytes_ += Four(behind ? 0 : entry.local_checksum.value_or(sum)) + Four(behind ? 0 : compressed) +
              Four(behind ? 0 : entry.local_size.value_or(size)) + Two(name.size()) + Two(entry.extra.size());
    bytes_ += name + entry.extra + raw;
    if (behind)
      bytes_ += entry.descriptor.value_or(Four(zip::kDescriptorSignature) + Four(sum) + Four(compressed) + Four(size));
    central_ += Four(zip::kCentralSignature) + Two(entry.host << 8U | 30) + Two(20) + Two(entry.flags) +
                Two(entry.method) + Four(0) + Four(sum) + Four(compressed) + Four(size) + Two(entry.name.size()) +
                Two(entry.extra.size()) + Two(0) + Two(entry.disk) + Two(0) + Four(std::uint64_t{entry.mode} << 16U) +
                Four(entry.offset.value_or(static_cast<std::uint32_t>(at)));
    central_ += entry.name + entry.extra;
    ++count_;
    return *this;
  }
  ZipBuilder& File(const std::string& name, const std::string& content = "", std::uint32_t mode = 0100644) {
    return Entry({.name = name, .content = content, .mode = mode, .method = zip::kDeflated});
  }
  ZipBuilder& Directory(const std::string& name) { return Entry({.name = name, .mode = 040755}); }
  ZipBuilder& Link(const std::string& name, const std::string& target) {
    return Entry({.name = name, .content = target, .mode = 0120777});
  }
  ZipBuilder& Raw(const std::string& bytes) {
    bytes_ += bytes;
    return *this;
  }
  // Both numbers of entries, instead of the true one.
  ZipBuilder& Count(std::uint16_t count) {
    said_count_ = count;
    return *this;
  }

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] const std::string& central() const { return central_; }

  [[nodiscard]] std::string Build(const std::string& comment = "") const {
    using zip::Four;
    using zip::Two;
    const std::uint16_t count = said_count_.value_or(static_cast<std::uint16_t>(count_));
    return bytes_ + central_ + Four(zip::kEndSignature) + Two(0) + Two(0) + Two(count) + Two(count) +
           Four(central_.size()) + Four(bytes_.size()) + Two(comment.size()) + comment;
  }
  // With the 64-bit end.
  [[nodiscard]] std::string Build64() const {
    using zip::Eight;
    using zip::Four;
    using zip::Two;
    const std::size_t end = bytes_.size() + central_.size();
    return bytes_ + central_ + Four(zip::kEnd64Signature) + Eight(44) + Two(45) + Two(45) + Four(0) + Four(0) +
           Eight(count_) + Eight(count_) + Eight(central_.size()) + Eight(bytes_.size()) +
           Four(zip::kLocator64Signature) + Four(0) + Eight(end) + Four(1) + Four(zip::kEndSignature) + Two(0) +
           Two(0) + Two(0xFFFF) + Two(0xFFFF) + Four(0xFFFFFFFF) + Four(0xFFFFFFFF) + Two(0);
  }

 private:
  std::string bytes_;
  std::string central_;
  std::uint64_t count_ = 0;
  std::optional<std::uint16_t> said_count_;
};

// A file in memory that holds `bytes`, at its start.
inline base::UniqueFd InMemory(const std::string& bytes) {
  base::UniqueFd fd(::memfd_create("archive", MFD_CLOEXEC));
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(fd.get(), bytes.data() + done, bytes.size() - done);
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

}  // namespace skerry::archive
