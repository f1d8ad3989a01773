// skerry fs read: a file, or a part of it, byte for byte.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/fs_command_parts.hpp"
#include "cli/progress.hpp"
#include "cli/terminal_filter.hpp"

namespace skerry::cli {
namespace {

using net::Incoming;
using net::OutgoingRequest;

struct ReadOptions {
  FsTarget target;
  std::optional<std::string> lines;
  std::optional<std::string> bytes;
  bool raw = false;
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

struct ByteRange {
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

base::Result<ByteRange> BytesOf(const std::string& text) {
  const auto numbers = NumbersOf(text);
  if (!numbers) return base::Err(base::Code::kInvalidArgument, "--bytes takes OFFSET or OFFSET:LENGTH, numbers from 0");
  return ByteRange{.offset = numbers->first, .length = numbers->second};
}

struct LineRange {
  std::uint64_t first = 1;
  std::optional<std::uint64_t> count;
};

base::Result<LineRange> LinesOf(const std::string& text) {
  const auto numbers = NumbersOf(text);
  if (!numbers || numbers->first == 0 || numbers->second.value_or(numbers->first) < numbers->first)
    return base::Err(base::Code::kInvalidArgument, "--lines takes FIRST or FIRST:LAST, numbers from 1");
  LineRange range{.first = numbers->first};
  if (numbers->second) range.count = *numbers->second - numbers->first + 1;
  return range;
}

// The daemon sends as many bytes as the file had when it was opened: a file that grows is not read for ever, and one
// that became shorter shows as a connection that ends early.
base::Result<std::string> NextBlock(Incoming& answer, ProgressLine& progress) {
  auto block = answer.Read(base::Deadline::Never());
  if (block) progress.Add(block->size());
  if (!block && block.error().code == base::Code::kUnavailable)
    return base::Err(base::Code::kConflict, "the file became shorter while it was read, or the daemon ended");
  return block;
}

base::Status CopyAll(Incoming& answer, archive::ByteSink& sink) {
  ProgressLine progress("received", LengthOf(answer), StderrScreenBesideStdout());
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const std::string block, NextBlock(answer, progress));
    if (block.empty()) return {};
    SKERRY_RETURN_IF_ERROR(sink.Write(block));
  }
}

// Removes up to `count` lines from the front of the text; gives how many there were.
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

// Lines are counted here: a line may be longer than any answer that is no stream.
base::Status CopyLines(Incoming& answer, const LineRange& range, archive::ByteSink& sink) {
  std::uint64_t before = range.first - 1;
  std::uint64_t left = range.count.value_or(UINT64_MAX);
  ProgressLine progress("looked through", LengthOf(answer), StderrScreenBesideStdout());
  while (left > 0) {
    SKERRY_ASSIGN_OR_RETURN(const std::string block, NextBlock(answer, progress));
    if (block.empty()) return {};
    std::string_view text = block;
    before -= SkipLines(text, before);
    std::string_view behind = text;
    if (range.count) left -= SkipLines(behind, left);
    const bool last = range.count && left == 0;
    SKERRY_RETURN_IF_ERROR(sink.Write(last ? text.substr(0, text.size() - behind.size()) : text));
  }
  return {};
}

// The first and the last byte, as HTTP writes them. HTTP has no empty range; then one byte is asked for.
std::string RangeHeader(const ByteRange& range) {
  std::string first = "bytes=" + std::to_string(range.offset) + "-";
  if (!range.length) return first;
  const std::uint64_t behind = std::max<std::uint64_t>(*range.length, 1) - 1;
  return first + std::to_string(range.offset + std::min(behind, UINT64_MAX - range.offset));
}

// Accepts a status of 416: a range behind the end is no error here.
base::Result<Incoming> Open(DaemonClient& daemon, const OutgoingRequest& request) {
  constexpr int kNoSuchBytes = 416;
  SKERRY_ASSIGN_OR_RETURN(Incoming answer, daemon.Exchange(request));
  if (answer.status() != kNoSuchBytes) SKERRY_RETURN_IF_ERROR(DaemonClient::CheckAccepted(answer));
  return answer;
}

// For a terminal, which must not act on the content of a file.
class ShownSink : public archive::ByteSink {
 public:
  explicit ShownSink(archive::ByteSink& out) : out_(out) {}
  base::Status Write(std::string_view bytes) override { return out_.Write(filter_.Pass(bytes)); }
  base::Status Finish() { return out_.Write(filter_.Finish()); }

 private:
  archive::ByteSink& out_;
  TerminalFilter filter_{TerminalFilter::Use::kLines};
};

base::Result<int> Read(const Context& context, const ReadOptions& options) {
  if (options.lines && options.bytes)
    return base::Err(base::Code::kInvalidArgument, "give --lines or --bytes, not both");
  ByteRange bytes;
  LineRange lines;
  if (options.bytes) {
    SKERRY_ASSIGN_OR_RETURN(bytes, BytesOf(*options.bytes));
  }
  if (options.lines) {
    SKERRY_ASSIGN_OR_RETURN(lines, LinesOf(*options.lines));
  }
  SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(options.target.session, "/files/content"));
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  OutgoingRequest request{.target = WithQuery(target, {{"path", options.target.path}})};
  if (options.bytes) request.headers.emplace_back("Range", RangeHeader(bytes));
  SKERRY_ASSIGN_OR_RETURN(Incoming answer, Open(daemon, request));
  const bool nothing = answer.status() >= 400 || bytes.length == 0;
  StdoutSink out;
  if (nothing) return 0;
  if (options.raw || ::isatty(STDOUT_FILENO) != 1)
    return out.ExitCode(options.lines ? CopyLines(answer, lines, out) : CopyAll(answer, out));
  ShownSink sink(out);
  auto copied = options.lines ? CopyLines(answer, lines, sink) : CopyAll(answer, sink);
  if (copied) copied = sink.Finish();
  return out.ExitCode(copied);
}

}  // namespace

Command FsReadCommand(const Context& context) {
  auto options = std::make_shared<ReadOptions>();
  return {.name = "read",
          .description = "Write a file to stdout, byte for byte unless that is a terminal",
          .footer =
              "Examples:\n"
              "  skerry fs read analysis output/report.md\n"
              "  skerry fs read analysis big.log --lines 100:120",
          .arguments = {SessionArgument(options->target), PathArgument(options->target, "The file")},
          .options = {{.names = "--lines",
                       .value = Value::Text("FIRST[:LAST]"),
                       .description = "Only these lines, counted from 1",
                       .to = &options->lines},
                      {.names = "--bytes",
                       .value = Value::Text("OFFSET[:LENGTH]"),
                       .description = "Only these bytes, counted from 0",
                       .to = &options->bytes},
                      {.names = "--raw",
                       .description = "Every byte to a terminal too; else what would make it answer or act is left out",
                       .to = &options->raw}},
          .action = [=, &context] { return Read(context, *options); }};
}

}  // namespace skerry::cli
