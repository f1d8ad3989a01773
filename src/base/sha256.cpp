#include "base/sha256.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstring>

namespace skerry::base {
namespace {

constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t BigEndian(const char* bytes) {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = (word << 8U) | static_cast<unsigned char>(bytes[i]);
  return word;
}

std::array<std::uint32_t, 64> Schedule(const char* block) {
  std::array<std::uint32_t, 64> words{};
  for (std::size_t i = 0; i < 16; ++i) words[i] = BigEndian(block + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t early = words[i - 15];
    const std::uint32_t late = words[i - 2];
    words[i] = words[i - 16] + (std::rotr(early, 7) ^ std::rotr(early, 18) ^ (early >> 3U)) + words[i - 7] +
               (std::rotr(late, 17) ^ std::rotr(late, 19) ^ (late >> 10U));
  }
  return words;
}

#if defined(__x86_64__)
bool HasX86Instructions() {
  constexpr unsigned kLeaf = 7;
  constexpr unsigned kShaBit = 1U << 29U;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __builtin_cpu_supports("sse4.1") != 0 && __get_cpuid_count(kLeaf, 0, &a, &b, &c, &d) != 0 &&
         (b & kShaBit) != 0;
}
#else
bool HasX86Instructions() {
  return false;
}
#endif

}  // namespace

// The processor is asked once: in a virtual machine the question costs as much as hashing some kilobytes.
Sha256::Sha256(Method method) : compress_(CompressPortably) {
  static const bool has_instructions = HasX86Instructions();
  if (method == Method::kFastest && has_instructions) compress_ = CompressOnX86;
}

void Sha256::CompressPortably(State& state, const char* blocks, std::size_t count) {
  for (; count > 0; --count, blocks += kBlockBytes) {
    const std::array<std::uint32_t, 64> words = Schedule(blocks);
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t choice = (e & f) ^ (~e & g);
      const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
      const std::uint32_t first =
          h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + choice + kRound[i] + words[i];
      const std::uint32_t second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + majority;
      h = g;
      g = f;
      f = e;
      e = d + first;
      d = c;
      c = b;
      b = a;
      a = first + second;
    }
    const State mixed = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += mixed[i];
  }
}

#if defined(__x86_64__)

// The instructions keep the eight words as ABEF and CDGH, do four rounds in two steps and four words of the schedule in
// one.
__attribute__((target("sha,sse4.1"))) void Sha256::CompressOnX86(State& state, const char* blocks, std::size_t count) {
  const auto load = [](const void* from) __attribute__((target("sha,sse4.1"))) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  };
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i cdab = _mm_shuffle_epi32(load(state.data()), 0xB1);
  const __m128i efgh = _mm_shuffle_epi32(load(state.data() + 4), 0x1B);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);
  for (; count > 0; --count, blocks += kBlockBytes) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    __m128i words[4];
    for (std::size_t i = 0; i < 4; ++i) words[i] = _mm_shuffle_epi8(load(blocks + 16 * i), big_endian);
    for (std::size_t i = 0; i < 16; ++i) {
      __m128i& now = words[i % 4];
      const __m128i sum = _mm_add_epi32(now, load(kRound.data() + 4 * i));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
      const __m128i early = _mm_sha256msg1_epu32(now, words[(i + 1) % 4]);
      const __m128i last = words[(i + 3) % 4];
      now = _mm_sha256msg2_epu32(_mm_add_epi32(early, _mm_alignr_epi8(last, words[(i + 2) % 4], 4)), last);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data()), _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data() + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#else

void Sha256::CompressOnX86(State& state, const char* blocks, std::size_t count) {
  CompressPortably(state, blocks, count);
}

#endif

void Sha256::Update(std::string_view bytes) {
  total_bytes_ += bytes.size();
  if (pending_bytes_ > 0) {
    const std::size_t taken = std::min(bytes.size(), kBlockBytes - pending_bytes_);
    std::memcpy(pending_.data() + pending_bytes_, bytes.data(), taken);
    pending_bytes_ += taken;
    bytes.remove_prefix(taken);
    if (pending_bytes_ < kBlockBytes) return;
    compress_(state_, pending_.data(), 1);
    pending_bytes_ = 0;
  }
  const std::size_t blocks = bytes.size() / kBlockBytes;
  const char* const whole = bytes.data();
  compress_(state_, whole, blocks);
  bytes.remove_prefix(blocks * kBlockBytes);
  if (bytes.empty()) return;
  std::memcpy(pending_.data(), bytes.data(), bytes.size());
  pending_bytes_ = bytes.size();
}

Sha256::Digest Sha256::Finish() {
  const std::uint64_t bits = total_bytes_ * 8;
  const std::size_t zeros = (kBlockBytes * 2 - 9 - pending_bytes_) % kBlockBytes;
  std::string end(1 + zeros, '\0');
  end.front() = '\x80';
  for (std::uint32_t shift = 64; shift > 0; shift -= 8) end += static_cast<char>((bits >> (shift - 8)) & 0xFFU);
  Update(end);
  Digest digest{};
  for (std::size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

std::string Sha256::FinishHex() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const std::uint8_t byte : Finish()) {
    hex += kDigits[byte >> 4U];
    hex += kDigits[byte & 0xFU];
  }
  return hex;
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.FinishHex();
}

bool IsSha256Hex(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace skerry::base
