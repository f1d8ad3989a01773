#include "base/sha256.hpp"

#include <string>

#include <gtest/gtest.h>

namespace skerry::base {
namespace {

struct Vector {
  std::string bytes;
  std::string_view hex;
};

// FIPS 180-4 examples, and lengths around the edges of a block (from sha256sum).
TEST(Sha256Test, MatchesThePublishedVectors) {
  const Vector vectors[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrst"
       "u",
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
      {std::string(55, 'a'), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
      {std::string(56, 'a'), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
      {std::string(63, 'a'), "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
      {std::string(64, 'a'), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
      {std::string(1000000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
  for (const Vector& vector : vectors) {
    Sha256 portable(Sha256::Method::kPortable);
    portable.Update(vector.bytes);
    EXPECT_EQ(portable.FinishHex(), vector.hex) << vector.bytes.size();
    EXPECT_EQ(Sha256Hex(vector.bytes), vector.hex) << vector.bytes.size();
  }
}

TEST(Sha256Test, TheDigestDoesNotDependOnHowTheBytesArrive) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(i * 7);
  for (const std::size_t step : {1U, 3U, 63U, 64U, 65U, 200U}) {
    Sha256 hash;
    for (std::size_t at = 0; at < bytes.size(); at += step) hash.Update(std::string_view(bytes).substr(at, step));
    EXPECT_EQ(hash.FinishHex(), Sha256Hex(bytes)) << step;
  }
}

TEST(Sha256Test, OnlySixtyFourLowerCaseDigitsAreADigest) {
  EXPECT_TRUE(IsSha256Hex(std::string(64, 'a')));
  for (const std::string& text : {std::string(), std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'A'),
                                  std::string(64, 'g'), "../" + std::string(61, 'a')})
    EXPECT_FALSE(IsSha256Hex(text)) << text;
}

}  // namespace
}  // namespace skerry::base
