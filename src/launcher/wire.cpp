#include "launcher/wire.hpp"

#include <cstring>

namespace skerry::launcher {

WireWriter& WireWriter::Number(std::uint64_t value) {
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  return *this;
}

WireWriter& WireWriter::Text(std::string_view text) {
  Number(text.size());
  bytes_.append(text);
  return *this;
}

WireWriter& WireWriter::Texts(const std::vector<std::string>& texts) {
  Number(texts.size());
  for (const std::string& text : texts) Text(text);
  return *this;
}

std::uint64_t WireReader::Number() {
  std::uint64_t value = 0;
  if (failed_ || rest_.size() < sizeof value) {
    failed_ = true;
    return 0;
  }
  std::memcpy(&value, rest_.data(), sizeof value);
  rest_.remove_prefix(sizeof value);
  return value;
}

std::uint64_t WireReader::NumberUpTo(std::uint64_t limit) {
  const std::uint64_t value = Number();
  if (value <= limit) return value;
  failed_ = true;
  return 0;
}

std::string_view WireReader::Text() {
  const std::uint64_t size = Number();
  if (failed_ || size > rest_.size()) {
    failed_ = true;
    return {};
  }
  const std::string_view text = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return text;
}

std::vector<std::string> WireReader::Texts() {
  // Each text takes at least its length field, so a count that the rest cannot hold is refused before any allocation.
  const std::uint64_t count = NumberUpTo(rest_.size() / sizeof(std::uint64_t));
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < count && !failed_; ++i) texts.emplace_back(Text());
  return texts;
}

}  // namespace skerry::launcher
