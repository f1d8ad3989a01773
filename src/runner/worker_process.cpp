#include "runner/worker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "os/errno_error.hpp"
#include "os/pipe.hpp"

namespace skerry::runner {
namespace {

using Kind = interpreters::WorkerWord::Kind;

constexpr std::size_t kLongestWord = std::size_t{64} << 20U;

std::vector<int> Borrowed(const std::vector<base::UniqueFd>& fds) {
  std::vector<int> numbers;
  for (const base::UniqueFd& fd : fds) numbers.push_back(fd.get());
  return numbers;
}

}  // namespace

base::Result<std::vector<base::UniqueFd>> WorkerProcess::MakeStreams() {
  SKERRY_ASSIGN_OR_RETURN(os::Pipe in, os::Pipe::Create());
  SKERRY_ASSIGN_OR_RETURN(os::Pipe out, os::Pipe::Create());
  SKERRY_ASSIGN_OR_RETURN(os::Pipe err, os::Pipe::Create());
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) < 0) return os::ErrnoErr("socketpair");
  channel_.Reset(ends[0]);
  input = std::move(in.write_end);
  output = std::move(out.read_end);
  error = std::move(err.read_end);
  for (const int fd : {input.get(), output.get(), error.get()}) SKERRY_RETURN_IF_ERROR(os::SetNonBlocking(fd));
  std::vector<base::UniqueFd> theirs;
  theirs.push_back(std::move(in.read_end));
  theirs.push_back(std::move(out.write_end));
  theirs.push_back(std::move(err.write_end));
  theirs.emplace_back(ends[1]);
  return theirs;
}

base::Result<WorkerProcess> WorkerProcess::Fork(const std::shared_ptr<SharedHandle>& life, std::string_view zygote) {
  WorkerProcess worker(kLongestWord);
  SKERRY_ASSIGN_OR_RETURN(const auto theirs, worker.MakeStreams());
  SKERRY_ASSIGN_OR_RETURN(WatchedProcess process, WatchedProcess::Fork(life, std::string(zygote), Borrowed(theirs)));
  worker.process_.emplace(std::move(process));
  return worker;
}

base::Result<WorkerProcess> WorkerProcess::Exec(const std::shared_ptr<SharedHandle>& life, core::Language language,
                                                launcher::CommandRequest request) {
  WorkerProcess worker(kLongestWord);
  SKERRY_ASSIGN_OR_RETURN(const auto theirs, worker.MakeStreams());
  worker.process_.emplace(WatchedProcess::Command(life));
  request.id = worker.process_->id();
  request.arguments = interpreters::WorkerArguments(language);
  SKERRY_RETURN_IF_ERROR(life->handle().SendCommand(request, Borrowed(theirs)));
  return worker;
}

base::Status WorkerProcess::AwaitReady(base::Deadline deadline) {
  for (;;) {
    if (const auto word = NextWord()) {
      if (word->kind == Kind::kReady) return {};
      const bool told = word->kind == Kind::kFailed && word->fields.size() == 2;
      return base::Err(base::Code::kUnavailable,
                       "the interpreter could not enter the sandbox" +
                           (told ? ": " + word->fields[0] + ", error " + word->fields[1] : ""));
    }
    pollfd entry{channel_.get(), POLLIN, 0};
    const int ready = ::poll(&entry, 1, deadline.PollTimeoutMs());
    if (ready == 0 && deadline.Expired()) return base::Err(base::Code::kTimeout, "the interpreter did not get ready");
    if (ready < 0 && errno != EINTR) return os::ErrnoErr("poll");
    if (ready > 0 && !Listen()) return base::Err(base::Code::kUnavailable, "the interpreter ended before it was ready");
  }
}

base::Status WorkerProcess::Send(std::string_view message, base::Deadline deadline) const {
  while (!message.empty()) {
    const ssize_t sent = ::send(channel_.get(), message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      message.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return os::ErrnoErr("tell the interpreter");
    if (deadline.Expired()) return base::Err(base::Code::kTimeout, "the interpreter does not read");
    pollfd entry{channel_.get(), POLLOUT, 0};
    if (::poll(&entry, 1, deadline.PollTimeoutMs()) < 0 && errno != EINTR) return os::ErrnoErr("poll");
  }
  return {};
}

bool WorkerProcess::Listen() {
  std::array<char, 65536> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by recv
  const ssize_t count = ::recv(channel_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count > 0) hearing_.Hear({buffer.data(), static_cast<std::size_t>(count)});
  return (count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))) && !hearing_.Broken();
}

void WorkerProcess::HearLastWords() {
  std::array<char, 65536> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by recv
  for (ssize_t count = 0; (count = ::recv(channel_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0;)
    hearing_.Hear({buffer.data(), static_cast<std::size_t>(count)});
}

}  // namespace skerry::runner
