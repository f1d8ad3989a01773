#include "base/ids.hpp"

#include <sys/random.h>

#include <cstdlib>

namespace skerry::base {

std::uint64_t RandomU64() {
  std::uint64_t value = 0;
  // The kernel's generator fails only when a filter forbids it: a predictable value would be worse than ending.
  if (::getrandom(&value, sizeof value, 0) != sizeof value) std::abort();
  return value;
}

std::string RandomId(std::string_view prefix) {
  static constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr int kLength = 16;
  constexpr int kPerDraw = 8;  // 36^8 is far below 2^64: the modulo bias is below one in a million
  std::string id(prefix);
  for (int drawn = 0; drawn < kLength; drawn += kPerDraw) {
    std::uint64_t random = RandomU64();
    for (int i = 0; i < kPerDraw; ++i, random /= kAlphabet.size()) id += kAlphabet[random % kAlphabet.size()];
  }
  return id;
}

}  // namespace skerry::base
