#include "base/hmac.hpp"

#include <cstddef>
#include <cstdint>

#include "base/sha256.hpp"

namespace skerry::base {
namespace {

constexpr std::size_t kBlockBytes = 64;
constexpr unsigned kInnerPad = 0x36;
constexpr unsigned kOuterPad = 0x5c;

std::string Bytes(const Sha256::Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string BlockKey(std::string_view key) {
  std::string block(key);
  if (key.size() > kBlockBytes) {
    Sha256 hash;
    hash.Update(key);
    block = Bytes(hash.Finish());
  }
  block.resize(kBlockBytes, '\0');
  return block;
}

std::string Padded(std::string_view block, unsigned pad) {
  std::string padded;
  for (const char byte : block) padded += static_cast<char>(static_cast<std::uint8_t>(byte) ^ pad);
  return padded;
}

}  // namespace

std::string HmacSha256Hex(std::string_view key, std::string_view text) {
  const std::string block = BlockKey(key);
  Sha256 inner;
  inner.Update(Padded(block, kInnerPad));
  inner.Update(text);
  Sha256 outer;
  outer.Update(Padded(block, kOuterPad));
  outer.Update(Bytes(inner.Finish()));
  return outer.FinishHex();
}

}  // namespace skerry::base
