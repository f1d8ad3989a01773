#include "cli/fs_command_parts.hpp"

#include <charconv>

#include <CLI/CLI.hpp>

#include "base/sha256.hpp"

namespace skerry::cli {

void AddSessionArgument(CLI::App& command, std::string& session) {
  command.add_option("session", session, "The session; see skerry session list")->required()->option_text("SESSION");
}

void AddPathArgument(CLI::App& command, std::string& path, const std::string& description) {
  command.add_option("path", path, description)->required()->option_text("PATH");
}

void AddText(CLI::App& command, const std::string& name, std::optional<std::string>& text,
             const std::string& description, const std::string& option_text) {
  const auto take = [&text](const std::string& given) { text = given; };
  command.add_option_function<std::string>(name, take, description)->option_text(option_text);
}

std::optional<std::uint64_t> LengthOf(const transport::client::Incoming& answer) {
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
