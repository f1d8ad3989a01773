#include "base/hmac.hpp"

#include <string>

#include <gtest/gtest.h>

namespace skerry::base {
namespace {

// The vectors of RFC 4231 that are not truncated.
struct Vector {
  std::string key;
  std::string text;
  std::string code;
};

class Rfc4231Test : public testing::TestWithParam<Vector> {};

TEST_P(Rfc4231Test, TheCodeIsThePublishedOne) {
  EXPECT_EQ(HmacSha256Hex(GetParam().key, GetParam().text), GetParam().code);
}

std::string CountedKey() {
  std::string key;
  for (int i = 1; i <= 25; ++i) key += static_cast<char>(i);
  return key;
}

INSTANTIATE_TEST_SUITE_P(
    Vectors, Rfc4231Test,
    testing::Values(
        Vector{std::string(20, '\x0b'), "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
        Vector{"Jefe", "what do ya want for nothing?",
               "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
        Vector{std::string(20, '\xaa'), std::string(50, '\xdd'),
               "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
        Vector{CountedKey(), std::string(50, '\xcd'),
               "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
        Vector{std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
               "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
        Vector{std::string(131, '\xaa'),
               "This is a test using a larger than block-size key and a larger than block-size data. The key needs to "
               "be hashed before being used by the HMAC algorithm.",
               "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"}));

TEST(HmacTest, EmptyKeyAndEmptyTextHaveACode) {
  EXPECT_EQ(HmacSha256Hex("", ""), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(HmacTest, AKeyOfExactlyOneBlockIsNotHashed) {
  EXPECT_EQ(HmacSha256Hex(std::string(64, 'k'), "text"),
            "0414bb1d8c0c4556cdb2028727b16610ae377b1a194b6db1f853d4297f2329bc");
}

}  // namespace
}  // namespace skerry::base
