// skerry fs write and append: what comes on stdin, or a file of the person, becomes a file of the session.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "cli/archive_files.hpp"
#include "cli/fs_command_parts.hpp"
#include "cli/fs_json.hpp"
#include "os/errno_error.hpp"
#include "os/files.hpp"

namespace skerry::cli {
namespace {

constexpr std::size_t kBlock = std::size_t{256} << 10U;
constexpr std::size_t kMaxAppended = std::size_t{64} << 20U;

struct WriteCommandOptions {
  FsTarget target;
  std::optional<std::string> from;
  std::optional<std::string> mode;
  std::optional<std::string> expected;
  bool keep = false;
};

// main opens /dev/null where it is missing. What we were given, unlike that, survives an exec.
bool StdinWasClosed() {
  const int flags = ::fcntl(STDIN_FILENO, F_GETFD);
  return flags < 0 || (static_cast<unsigned>(flags) & FD_CLOEXEC) != 0;
}

// Where the content comes from; stdin is borrowed.
class Input {
 public:
  static base::Result<Input> Open(const std::optional<std::string>& from) {
    Input input;
    if (!from && StdinWasClosed())
      return base::Err(base::Code::kInvalidArgument, "stdin is closed; give the content there, or with --from FILE");
    if (!from) return input;
    input.file_.Reset(::open(from->c_str(), O_RDONLY | O_CLOEXEC));
    if (!input.file_.valid()) return os::ErrnoErr(*from);
    input.name_ = *from;
    return input;
  }

  [[nodiscard]] int fd() const { return file_.valid() ? file_.get() : STDIN_FILENO; }
  [[nodiscard]] const std::string& name() const { return name_; }

  // Until there is something to read: whoever writes it may need the session until then.
  void Wait() const {
    pollfd entry{fd(), POLLIN, 0};
    while (::poll(&entry, 1, -1) < 0 && errno == EINTR) continue;
  }

  // So that whoever writes it can come to an end.
  base::Status TakeAll() {
    SKERRY_ASSIGN_OR_RETURN(base::UniqueFd all, Spool(fd()));
    file_ = std::move(all);
    return {};
  }

 private:
  base::UniqueFd file_;
  std::string name_ = "stdin";
};

base::Status Feed(const Input& input, workspace::FileWriter& writer) {
  std::vector<char> block(kBlock);
  for (;;) {
    const ssize_t count = ::read(input.fd(), block.data(), block.size());
    if (count == 0) return {};
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return os::ErrnoErr(input.name());
    SKERRY_RETURN_IF_ERROR(writer.Write({block.data(), static_cast<std::size_t>(count)}));
  }
}

base::Result<std::uint32_t> ModeOf(const std::string& text) {
  constexpr int kOctal = 8;
  constexpr std::uint32_t kAll = 0777;
  std::uint32_t mode = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, kOctal);
  if (error != std::errc() || end != text.data() + text.size() || mode > kAll)
    return base::Err(base::Code::kInvalidArgument, "--mode takes permissions like 644 or 755");
  return mode;
}

base::Result<workspace::WriteOptions> OptionsOf(const WriteCommandOptions& options) {
  SKERRY_RETURN_IF_ERROR(CheckExpected(options.expected));
  workspace::WriteOptions write{.existing = options.keep ? workspace::Existing::kKeep : workspace::Existing::kReplace,
                                .expected_sha256 = options.expected};
  if (options.mode) {
    SKERRY_ASSIGN_OR_RETURN(write.mode, ModeOf(*options.mode));
  }
  return write;
}

// Whoever has the session may be the one who writes our input, and waits for us.
base::Result<engine::Session> SessionFor(Input& input, const Context& context, const std::string& name) {
  auto session = SessionOf(context, name, base::Deadline::After({}));
  if (session || session.error().code != base::Code::kUnavailable) return session;
  SKERRY_RETURN_IF_ERROR(input.TakeAll());
  return SessionOf(context, name);
}

base::Result<int> Tell(const core::FileChange& change, const FsTarget& target) {
  if (target.json) {
    SKERRY_RETURN_IF_ERROR(WriteJson(ChangeToJson(change)));
    return 0;
  }
  const std::string verb(core::NameOf(change.action));
  SKERRY_RETURN_IF_ERROR(WriteText(verb + " " + base::Printable(change.path) + ": " + std::to_string(change.size) +
                                   (change.size == 1 ? " byte\n" : " bytes\n")));
  return 0;
}

base::Result<int> Write(const Context& context, const WriteCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const workspace::WriteOptions write, OptionsOf(options));
  SKERRY_ASSIGN_OR_RETURN(Input input, Input::Open(options.from));
  input.Wait();
  SKERRY_ASSIGN_OR_RETURN(engine::Session session, SessionFor(input, context, options.target.session));
  const auto feed = [&input](workspace::FileWriter& writer) { return Feed(input, writer); };
  SKERRY_ASSIGN_OR_RETURN(const core::FileChange change, session.WriteStream(options.target.path, write, feed));
  return Tell(change, options.target);
}

base::Result<int> Append(const Context& context, const WriteCommandOptions& options) {
  SKERRY_ASSIGN_OR_RETURN(const Input input, Input::Open(options.from));
  auto bytes = os::ReadAll(input.fd(), kMaxAppended);
  if (!bytes && bytes.error().code == base::Code::kTooLarge)
    return base::Err(base::Code::kTooLarge, input.name() + ": at most 64 MB can be appended at once");
  if (!bytes) return std::unexpected(std::move(bytes).error());
  SKERRY_ASSIGN_OR_RETURN(engine::Session session, SessionOf(context, options.target.session));
  SKERRY_ASSIGN_OR_RETURN(const core::FileChange change, session.Append(options.target.path, *bytes));
  return Tell(change, options.target);
}

using Action = base::Result<int> (*)(const Context&, const WriteCommandOptions&);

CLI::App* Add(const FsGroup& group, const std::shared_ptr<WriteCommandOptions>& options, const std::string& name,
              const std::string& description, Action action) {
  CLI::App* command = group.app.add_subcommand(name, description);
  AddSessionArgument(*command, options->target.session);
  AddPathArgument(*command, options->target.path, "The file; directories above it are made");
  AddText(*command, "--from", options->from, "Take the content from FILE instead of stdin", "FILE");
  command->add_flag("--json", options->target.json, "Print what became of the file as an object");
  command->callback([options, group, action] {
    group.exit_code = Conclude(action(group.context, *options), options->target.json ? Form::kJson : Form::kText);
  });
  return command;
}

}  // namespace

void AddFsWrite(const FsGroup& group) {
  auto options = std::make_shared<WriteCommandOptions>();
  CLI::App* write = Add(group, options, "write", "Make a file of what comes on stdin, or replace one", Write);
  AddText(*write, "--mode", options->mode, "Permissions; else those of the file that is replaced, else 644", "OCTAL");
  write->add_flag("--no-replace", options->keep, "Fail when something is there already");
  AddText(*write, "--expect", options->expected, "Fail unless the file that is replaced has this digest", "SHA256");
  write->footer(
      "The file is there at once and whole, or, after an error, as it was.\n\n"
      "Examples:\n"
      "  echo hello | skerry fs write analysis data/hello.txt\n"
      "  skerry fs write analysis bin/tool.py --from tool.py --mode 755");
  CLI::App* append =
      Add(group, options, "append", "Put what comes on stdin behind a file, which is made if missing", Append);
  append->footer("Example:\n  date | skerry fs append analysis log.txt");
}

}  // namespace skerry::cli
