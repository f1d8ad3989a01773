#include "policy/texts.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

#include "base/utf8.hpp"
#include "policy/values.hpp"

namespace skerry::policy {
namespace {

const std::string kUnknown(1, kHole);

void AppendCodePoint(std::string& text, std::uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0U | code >> 6U);
    text += static_cast<char>(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0U | code >> 12U);
    text += static_cast<char>(0x80U | (code >> 6U & 0x3FU));
    text += static_cast<char>(0x80U | (code & 0x3FU));
  } else if (code < 0x110000) {
    text += static_cast<char>(0xF0U | code >> 18U);
    text += static_cast<char>(0x80U | (code >> 12U & 0x3FU));
    text += static_cast<char>(0x80U | (code >> 6U & 0x3FU));
    text += static_cast<char>(0x80U | (code & 0x3FU));
  }
}

std::optional<std::uint32_t> Number(std::string_view digits, int base) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  return value;
}

// Appends the escape at `at`, which is behind its backslash; `at` moves behind the escape.
void AppendEscape(std::string& result, std::string_view text, std::size_t& at) {
  const char letter = text[at];
  const auto hexadecimal = [&](std::size_t digits) {
    const auto code = Number(text.substr(at + 1, digits), 16);
    if (!code || at + digits >= text.size()) return false;
    AppendCodePoint(result, *code);
    at += 1 + digits;
    return true;
  };
  if (letter == 'u' && text.substr(at + 1).starts_with('{')) {
    const std::size_t end = text.find('}', at);
    const auto code = end == std::string_view::npos ? std::nullopt : Number(text.substr(at + 2, end - at - 2), 16);
    if (code) {
      AppendCodePoint(result, *code);
      at = end + 1;
      return;
    }
  }
  if ((letter == 'x' && hexadecimal(2)) || (letter == 'u' && hexadecimal(4)) || (letter == 'U' && hexadecimal(8)))
    return;
  if (letter >= '0' && letter <= '7') {
    std::size_t digits = 1;
    while (digits < 3 && at + digits < text.size() && text[at + digits] >= '0' && text[at + digits] <= '7') ++digits;
    AppendCodePoint(result, Number(text.substr(at, digits), 8).value_or(0));
    at += digits;
    return;
  }
  constexpr std::string_view kLetters = "ntrabfv";
  constexpr std::string_view kMeanings = "\n\t\r\a\b\f\v";
  const std::size_t known = kLetters.find(letter);
  if (letter == 'N') {
    result += kHole;  // \N{…}: a character by its name
    const std::size_t end = text.find('}', at);
    at = end == std::string_view::npos ? at + 1 : end + 1;
    return;
  }
  if (letter != '\n') result += known == std::string_view::npos ? letter : kMeanings[known];
  ++at;
}

int Base64Digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

}  // namespace

std::string Unescaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      result += text[at++];
    } else {
      ++at;
      AppendEscape(result, text, at);
    }
  }
  return result;
}

std::string WithHoles(std::string_view text, char sign) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != sign) {
      result += text[at];
      continue;
    }
    if (at + 1 < text.size() && text[at + 1] == sign) {
      result += text[at++];
      continue;
    }
    const std::size_t end = sign == '{' ? text.find('}', at) : text.find_first_of("diouxXeEfFgGcrsa", at + 1);
    if (end == std::string_view::npos) return result + std::string(text.substr(at));
    result += kHole;
    at = end;
  }
  return result;
}

std::string CharacterNumbered(std::string_view number) {
  const bool hexadecimal = number.starts_with("0x") || number.starts_with("0X");
  const auto code = hexadecimal ? Number(number.substr(2), 16) : Number(number, 10);
  if (!code) return kUnknown;
  std::string result;
  AppendCodePoint(result, *code);
  return result;
}

std::string FromBase64(std::string_view text) {
  std::string result;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=' || c == '\n' || c == ' ') continue;
    const int digit = Base64Digit(c);
    if (digit < 0) return kUnknown;
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    result += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xFFU);
  }
  return base::IsValidUtf8(result) ? result : kUnknown;
}

std::string FromHex(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    if (text[at] == ' ') {
      --at;
      continue;
    }
    const auto byte = Number(text.substr(at, 2), 16);
    if (!byte || at + 1 == text.size()) return kUnknown;
    result += static_cast<char>(*byte);
  }
  return base::IsValidUtf8(result) ? result : kUnknown;
}

std::string Filled(std::string_view text, std::string_view word) {
  std::string result;
  for (const char c : text) {
    if (c == kHole) {
      result += word;
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace skerry::policy
