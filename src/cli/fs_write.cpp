// skerry fs write and append: stdin, or a file of the person, becomes a file of the session.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "cli/answer.hpp"
#include "cli/archive_files.hpp"
#include "cli/fs_command_parts.hpp"
#include "cli/progress.hpp"
#include "os/files.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;
using net::OutgoingRequest;

constexpr std::size_t kMaxAppended = std::size_t{64} << 20U;

struct WriteCommandOptions {
  FsTarget target;
  std::optional<std::string> from;
  std::optional<std::string> mode;
  std::optional<std::string> expected;
  bool keep = false;
};

// main opens /dev/null, with FD_CLOEXEC, where stdin is missing; an inherited stdin does not have that flag.
bool StdinWasClosed() {
  const int flags = ::fcntl(STDIN_FILENO, F_GETFD);
  return flags < 0 || (static_cast<unsigned>(flags) & FD_CLOEXEC) != 0;
}

// Where the content comes from.
struct Input {
  base::UniqueFd file;
  std::string name;

  static base::Result<Input> Open(const std::optional<std::string>& from) {
    if (!from && StdinWasClosed())
      return base::Err(base::Code::kInvalidArgument, "stdin is closed; give the content there, or with --from FILE");
    // --from - is a file that is called -.
    const std::string path = from == "-" ? "./-" : from.value_or("-");
    SKERRY_ASSIGN_OR_RETURN(base::UniqueFd file, OpenInput(path));
    return Input{std::move(file), from.value_or("stdin")};
  }
};

// The mode in the daemon's form.
base::Result<std::string> ModeOf(const std::string& text) {
  constexpr int kOctal = 8;
  constexpr std::uint32_t kAll = 0777;
  std::uint32_t mode = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, kOctal);
  if (error != std::errc() || end != text.data() + text.size() || mode > kAll)
    return base::Err(base::Code::kInvalidArgument, "--mode takes permissions like 644 or 755");
  std::array<char, 8> digits{};
  return std::string(digits.data(),
                     static_cast<std::size_t>(std::snprintf(digits.data(), digits.size(), "%03o", mode)));
}

base::Result<OutgoingRequest> RequestOf(const WriteCommandOptions& options) {
  SKERRY_RETURN_IF_ERROR(CheckExpected(options.expected));
  std::optional<std::string> mode;
  if (options.mode) {
    SKERRY_ASSIGN_OR_RETURN(mode, ModeOf(*options.mode));
  }
  SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(options.target.session, "/files/content"));
  OutgoingRequest request{
      .method = "PUT",
      .target = WithQuery(
          target, {{"path", options.target.path}, {"existing", options.keep ? "keep" : "replace"}, {"mode", mode}}),
      .headers = {{"Content-Type", "application/octet-stream"}}};
  if (options.expected) request.headers.emplace_back("If-Match", "\"" + *options.expected + "\"");
  return request;
}

// Shows the progress while the content is sent.
base::Result<Json> SendFile(const Context& context, OutgoingRequest request, const Input& input) {
  ProgressLine progress("sent", BytesLeftIn(input.file.get()));
  request.feed = Counted(FeedFrom(input.file.get(), input.name), progress);
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  return daemon.AskWith(request);
}

base::Result<int> Tell(const Json& change, const FsTarget& target) {
  if (target.json) {
    SKERRY_RETURN_IF_ERROR(WriteJson(change));
    return 0;
  }
  const std::uint64_t size = NumberIn(change, "size");
  SKERRY_RETURN_IF_ERROR(WriteText(TextIn(change, "action") + " " + base::Printable(BytesIn(change, "path")) + ": " +
                                   std::to_string(size) + (size == 1 ? " byte\n" : " bytes\n")));
  return 0;
}

base::Result<int> Write(const Context& context, const WriteCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(OutgoingRequest request, RequestOf(options));
  SKERRY_ASSIGN_OR_RETURN(const Input input, Input::Open(options.from));
  SKERRY_ASSIGN_OR_RETURN(const Json change, SendFile(context, std::move(request), input));
  return Tell(change, options.target);
}

base::Result<int> Append(const Context& context, const WriteCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const std::string target, InSession(options.target.session, "/files/append"));
  SKERRY_ASSIGN_OR_RETURN(const Input input, Input::Open(options.from));
  auto bytes = os::ReadAll(input.file.get(), kMaxAppended);
  if (!bytes && bytes.error().code == base::Code::kTooLarge)
    return base::Err(base::Code::kTooLarge, input.name + ": at most 64 MB can be appended at once");
  if (!bytes) return std::unexpected(std::move(bytes).error());
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  SKERRY_ASSIGN_OR_RETURN(const Json change,
                          daemon.AskWith({.method = "POST",
                                          .target = WithQuery(target, {{"path", options.target.path}}),
                                          .headers = {{"Content-Type", "application/octet-stream"}},
                                          .body = *std::move(bytes)}));
  return Tell(change, options.target);
}

// The arguments of both commands.
std::vector<Argument> ArgumentsInto(FsTarget& target) {
  return {SessionArgument(target), PathArgument(target, "The file; directories above it are made")};
}

Option FromOption(WriteCommandOptions& options) {
  return {.names = "--from",
          .value = Value::File(),
          .description = "Take the content from FILE instead of stdin",
          .to = &options.from};
}

Option ChangeAsJson(WriteCommandOptions& options) {
  return JsonOption(options.target, "Print what became of the file as an object");
}

}  // namespace

Command FsWriteCommand(const Context& context) {
  auto options = std::make_shared<WriteCommandOptions>();
  return {.name = "write",
          .description = "Make a file of what comes on stdin, or replace one",
          .footer =
              "The file is there at once and whole, or, after an error, as it was.\n\n"
              "Examples:\n"
              "  echo hello | skerry fs write analysis data/hello.txt\n"
              "  skerry fs write analysis bin/tool.py --from tool.py --mode 755",
          .arguments = ArgumentsInto(options->target),
          .options = {FromOption(*options),
                      ChangeAsJson(*options),
                      {.names = "--mode",
                       .value = Value::Text("OCTAL"),
                       .description = "Permissions; else those of the file that is replaced, else 644",
                       .to = &options->mode},
                      {.names = "--no-replace",
                       .description = "Fail when something is there already",
                       .to = &options->keep},
                      {.names = "--expect",
                       .value = Value::Text("SHA256"),
                       .description = "Fail unless the file that is replaced has this digest",
                       .to = &options->expected}},
          .action = [=, &context] { return Write(context, *options); },
          .errors_as_json = &options->target.json};
}

Command FsAppendCommand(const Context& context) {
  auto options = std::make_shared<WriteCommandOptions>();
  return {.name = "append",
          .description = "Put what comes on stdin behind a file, which is made if missing",
          .footer = "Example:\n  date | skerry fs append analysis log.txt",
          .arguments = ArgumentsInto(options->target),
          .options = {FromOption(*options), ChangeAsJson(*options)},
          .action = [=, &context] { return Append(context, *options); },
          .errors_as_json = &options->target.json};
}

}  // namespace skerry::cli
