// Numbers and texts as bytes, for messages between processes of one machine. The reader believes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skerry::launcher {

class WireWriter {
 public:
  WireWriter& Number(std::uint64_t value);
  WireWriter& Text(std::string_view text);
  WireWriter& Texts(const std::vector<std::string>& texts);
  [[nodiscard]] std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads in the order of writing. After the first thing that does not fit, every read gives nothing and Complete() is
// false, so a decoder reads all its fields and asks once.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t Number();
  std::uint64_t NumberUpTo(std::uint64_t limit);
  std::string_view Text();
  std::vector<std::string> Texts();

  // Everything was there and nothing is left over.
  [[nodiscard]] bool Complete() const { return !failed_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace skerry::launcher
