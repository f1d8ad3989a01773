// How the bytes of a file are read as text, and back. Pure.
#pragma once

#include <string>
#include <string_view>

namespace skerry::text {

enum class Encoding { kUtf8, kUtf8WithMark, kUtf16Little, kUtf16Big, kBytes };

struct DecodedText {
  Encoding encoding = Encoding::kUtf8;
  std::string text;  // UTF-8 without a mark; for kBytes the file as it is
};

// UTF-16 needs a mark; what is not well-formed (an odd number of bytes, half a surrogate pair, broken UTF-8) is kBytes,
// so that Encode always gives back what Decode was given.
DecodedText Decode(std::string_view file);

// `text` is well-formed UTF-8 unless it is kBytes.
std::string Encode(std::string_view text, Encoding encoding);

// Why `text` cannot stand in a file of that encoding; "" when it can.
std::string_view EncodingObstacle(std::string_view text, Encoding encoding);

bool IsAscii(std::string_view text);

}  // namespace skerry::text
