#include "cli/fs_command_parts.hpp"

#include <charconv>

#include "base/sha256.hpp"

namespace skerry::cli {

Argument SessionArgument(FsTarget& target) {
  return {.name = "session",
          .value = Value::Session(),
          .description = "The session; see skerry session list",
          .to = &target.session,
          .need = Need::kRequired};
}

Argument PathArgument(FsTarget& target, const std::string& description, Need need) {
  return {.name = "path", .value = Value::Text("PATH"), .description = description, .to = &target.path, .need = need};
}

Option JsonOption(FsTarget& target, const std::string& description) {
  return {.names = "--json", .description = description, .to = &target.json};
}

std::optional<std::uint64_t> LengthOf(const net::Incoming& answer) {
  const std::string text = answer.Header("Content-Length").value_or("");
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return length;
}

base::Status CheckExpected(const std::optional<std::string>& sha256) {
  if (!sha256 || base::IsSha256Hex(*sha256)) return {};
  return base::Err(base::Code::kInvalidArgument, "--expect takes a SHA-256: 64 digits of 0-9 and a-f");
}

}  // namespace skerry::cli
