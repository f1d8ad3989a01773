// skerry fs read: a file, or a part of it, byte for byte.
#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "cli/fs_command_parts.hpp"

namespace skerry::cli {
namespace {

constexpr std::size_t kBlock = std::size_t{256} << 10U;

struct ReadOptions {
  FsTarget target;
  std::optional<std::string> lines;
  std::optional<std::string> bytes;
};

std::optional<std::uint64_t> NumberOf(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "3" or "3:7".
struct Numbers {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> second;
};
std::optional<Numbers> NumbersOf(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto first = NumberOf(text.substr(0, colon));
  if (!first) return std::nullopt;
  if (colon == std::string_view::npos) return Numbers{*first, std::nullopt};
  const auto second = NumberOf(text.substr(colon + 1));
  return second ? std::optional(Numbers{*first, second}) : std::nullopt;
}

base::Result<workspace::ByteRange> BytesOf(const std::string& text) {
  const auto numbers = NumbersOf(text);
  if (!numbers) return base::Err(base::Code::kInvalidArgument, "--bytes takes OFFSET or OFFSET:LENGTH, numbers from 0");
  return workspace::ByteRange{.offset = numbers->first, .length = numbers->second};
}

base::Result<workspace::LineRange> LinesOf(const std::string& text) {
  const auto numbers = NumbersOf(text);
  if (!numbers || numbers->first == 0 || numbers->second.value_or(numbers->first) < numbers->first)
    return base::Err(base::Code::kInvalidArgument, "--lines takes FIRST or FIRST:LAST, numbers from 1");
  workspace::LineRange range{.first = numbers->first};
  if (numbers->second) range.count = *numbers->second - numbers->first + 1;
  return range;
}

// A block of what was there when the file was opened: one that grows is not read for ever, and one that became shorter
// is told.
base::Result<std::string> BlockAt(const workspace::FileReader& file, std::uint64_t at, std::uint64_t most) {
  const auto wanted = static_cast<std::size_t>(std::min({most, file.size() - at, std::uint64_t{kBlock}}));
  SKERRY_ASSIGN_OR_RETURN(std::string block, file.ReadAt(at, wanted));
  if (block.size() < wanted) return base::Err(base::Code::kConflict, "the file became shorter while it was read");
  return block;
}

base::Status CopyBytes(const workspace::FileReader& file, const workspace::ByteRange& range, archive::ByteSink& sink) {
  std::uint64_t left = range.length.value_or(UINT64_MAX);
  for (std::uint64_t at = range.offset; left > 0 && at < file.size();) {
    SKERRY_ASSIGN_OR_RETURN(const std::string block, BlockAt(file, at, left));
    SKERRY_RETURN_IF_ERROR(sink.Write(block));
    at += block.size();
    left -= block.size();
  }
  return {};
}

// Removes up to `count` line ends from the front, and what is before them; gives how many there were.
std::uint64_t SkipLines(std::string_view& text, std::uint64_t count) {
  std::uint64_t skipped = 0;
  while (skipped < count) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      text = {};
      break;
    }
    text.remove_prefix(end + 1);
    ++skipped;
  }
  return skipped;
}

base::Status CopyLines(const workspace::FileReader& file, const workspace::LineRange& range, archive::ByteSink& sink) {
  std::uint64_t before = range.first - 1;
  std::uint64_t left = range.count.value_or(UINT64_MAX);
  for (std::uint64_t at = 0; left > 0 && at < file.size();) {
    SKERRY_ASSIGN_OR_RETURN(const std::string block, BlockAt(file, at, kBlock));
    std::string_view text = block;
    before -= SkipLines(text, before);
    std::string_view behind = text;
    if (range.count) left -= SkipLines(behind, left);
    const bool last = range.count && left == 0;
    SKERRY_RETURN_IF_ERROR(sink.Write(last ? text.substr(0, text.size() - behind.size()) : text));
    at += block.size();
  }
  return {};
}

base::Result<int> Read(const Context& context, const ReadOptions& options) {
  if (options.lines && options.bytes)
    return base::Err(base::Code::kInvalidArgument, "give --lines or --bytes, not both");
  workspace::ByteRange bytes;
  workspace::LineRange lines;
  if (options.bytes) {
    SKERRY_ASSIGN_OR_RETURN(bytes, BytesOf(*options.bytes));
  }
  if (options.lines) {
    SKERRY_ASSIGN_OR_RETURN(lines, LinesOf(*options.lines));
  }
  SKERRY_ASSIGN_OR_RETURN(const auto files, FilesOf(context, options.target.session));
  SKERRY_ASSIGN_OR_RETURN(const workspace::FileReader file, files->OpenFile(options.target.path));
  StdoutSink sink;
  return sink.ExitCode(options.lines ? CopyLines(file, lines, sink) : CopyBytes(file, bytes, sink));
}

}  // namespace

void AddFsRead(const FsGroup& group) {
  auto options = std::make_shared<ReadOptions>();
  CLI::App* read = group.app.add_subcommand("read", "Write a file to stdout, byte for byte");
  AddSessionArgument(*read, options->target.session);
  AddPathArgument(*read, options->target.path, "The file");
  AddText(*read, "--lines", options->lines, "Only these lines, counted from 1", "FIRST[:LAST]");
  AddText(*read, "--bytes", options->bytes, "Only these bytes, counted from 0", "OFFSET[:LENGTH]");
  read->footer(
      "Examples:\n"
      "  skerry fs read analysis output/report.md\n"
      "  skerry fs read analysis big.log --lines 100:120");
  read->callback([options, group] { group.exit_code = Conclude(Read(group.context, *options), Form::kText); });
}

}  // namespace skerry::cli
