// The numbers of the zip format that its reader and its writer share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace skerry::archive::zip {

inline constexpr std::uint32_t kLocalSignature = 0x04034b50;
inline constexpr std::uint32_t kCentralSignature = 0x02014b50;
inline constexpr std::uint32_t kDescriptorSignature = 0x08074b50;
inline constexpr std::uint32_t kEndSignature = 0x06054b50;
inline constexpr std::uint32_t kEnd64Signature = 0x06064b50;
inline constexpr std::uint32_t kLocator64Signature = 0x07064b50;

// Without the names, extra fields and comments that follow.
inline constexpr std::size_t kLocalBytes = 30;
inline constexpr std::size_t kCentralBytes = 46;
inline constexpr std::size_t kEndBytes = 22;
inline constexpr std::size_t kEnd64Bytes = 56;
inline constexpr std::size_t kLocator64Bytes = 20;

inline constexpr std::uint16_t kStored = 0;
inline constexpr std::uint16_t kDeflated = 8;

inline constexpr unsigned kEncrypted = 1U << 0U;
inline constexpr unsigned kHasDescriptor = 1U << 3U;  // checksum and sizes follow the content
inline constexpr unsigned kPatch = 1U << 5U;
inline constexpr unsigned kStronglyEncrypted = 1U << 6U;
inline constexpr unsigned kUtf8Name = 1U << 11U;
inline constexpr unsigned kHiddenHeader = 1U << 13U;

inline constexpr std::uint16_t kExtra64 = 0x0001;
inline constexpr std::uint16_t kExtraTime = 0x5455;
inline constexpr std::uint16_t kExtraUnicodePath = 0x7075;

// "See the 64-bit field instead".
inline constexpr std::uint32_t kIn64 = 0xFFFFFFFF;
inline constexpr std::uint16_t kCountIn64 = 0xFFFF;

inline constexpr unsigned kHostUnix = 3;
inline constexpr unsigned kHostMac = 19;

// Little-endian numbers from the front of some bytes. What is not there reads as 0, and `ok` tells.
class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : rest_(bytes) {}

  std::uint16_t Take16() { return static_cast<std::uint16_t>(Take(2)); }
  std::uint32_t Take32() { return static_cast<std::uint32_t>(Take(4)); }
  std::uint64_t Take64() { return Take(8); }
  std::string_view TakeBytes(std::size_t count) {
    if (count > rest_.size()) {
      ok_ = false;
      count = rest_.size();
    }
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::uint64_t Take(std::size_t count) {
    std::uint64_t value = 0;
    const std::string_view bytes = TakeBytes(count);
    if (!ok_) return 0;
    for (std::size_t i = count; i > 0; --i) value = (value << 8U) | static_cast<unsigned char>(bytes[i - 1]);
    return value;
  }

  std::string_view rest_;
  bool ok_ = true;
};

inline std::string LittleEndian(std::uint64_t value, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (char& byte : text) {
    byte = static_cast<char>(value & 0xFFU);
    value >>= 8U;
  }
  return text;
}
inline std::string Two(std::uint64_t value) {
  return LittleEndian(value, 2);
}
inline std::string Four(std::uint64_t value) {
  return LittleEndian(value, 4);
}
inline std::string Eight(std::uint64_t value) {
  return LittleEndian(value, 8);
}

}  // namespace skerry::archive::zip
