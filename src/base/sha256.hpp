// SHA-256 (FIPS 180-4), for naming, checking and signing content. The time it takes may depend on the bytes: it is not
// for comparing with a secret.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace skerry::base {

class Sha256 {
 public:
  using Digest = std::array<std::uint8_t, 32>;
  enum class Method {
    kFastest,   // the processor's own instructions where it has them
    kPortable,  // everywhere
  };

  explicit Sha256(Method method = Method::kFastest);

  void Update(std::string_view bytes);
  // The digest of everything so far. Afterwards the object is used up.
  Digest Finish();
  // As Finish, in 64 lower-case hexadecimal digits.
  std::string FinishHex();

 private:
  static constexpr std::size_t kBlockBytes = 64;
  using State = std::array<std::uint32_t, 8>;
  using Compress = void (*)(State& state, const char* blocks, std::size_t count);

  static void CompressPortably(State& state, const char* blocks, std::size_t count);
  static void CompressOnX86(State& state, const char* blocks, std::size_t count);

  Compress compress_;
  State state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<char, kBlockBytes> pending_{};
  std::size_t pending_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
};

std::string Sha256Hex(std::string_view bytes);

// True for 64 lower-case hexadecimal digits.
bool IsSha256Hex(std::string_view text);

}  // namespace skerry::base
