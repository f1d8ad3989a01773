#include "cli/attachment.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "cli/answer.hpp"
#include "json/text.hpp"
#include "os/errno_error.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;
using net::WebSocket;

// A socket that is writable has room for at least so many bytes: so no write blocks while there is something to read.
constexpr std::size_t kPiece = 4096;

std::string NameOfSignal(int signal) {
  switch (signal) {
    case SIGINT:
      return "INT";
    case SIGHUP:
      return "HUP";
    default:
      return "TERM";
  }
}

}  // namespace

base::Result<std::optional<Json>> Attachment::Run() {
  if (options_.window == Window::kRaw) {
    raw_.emplace();
    // The window may have been resized since the command was started.
    const core::TerminalSize size = RawTerminal::Size();
    SKERRY_RETURN_IF_ERROR(Say({{"type", "resize"}, {"rows", size.rows}, {"columns", size.columns}}));
  }
  while (!end_ && !left_) {
    FollowTerminal();
    const Ready ready = Await();
    SKERRY_RETURN_IF_ERROR(HeedSignals());
    if (ready == Ready::kSocket) SKERRY_RETURN_IF_ERROR(TakeMessage());
    if (input_ready_ && room_ && !end_) SKERRY_RETURN_IF_ERROR(PassOnInput());
  }
  desk_.Withdraw();
  sink_.Finish();
  raw_.reset();
  return end_;
}

// A question needs a terminal in line mode, and for itself.
void Attachment::FollowTerminal() {
  if (options_.window != Window::kRaw) return;
  if (desk_.IsAsking()) return raw_.reset();
  if (!raw_) raw_.emplace();
}

Attachment::Ready Attachment::Await() {
  constexpr int kWhileAsking = 100;  // milliseconds
  const bool wants_input = options_.input == Input::kPassedOn && !desk_.IsAsking();
  // First waits for input, then for room: polling for room without input would never sleep.
  const auto room = static_cast<short>(input_ready_ ? POLLOUT : 0);
  std::array entries = {pollfd{socket_.fd(), static_cast<short>(POLLIN | room), 0},
                        pollfd{signals_.interrupt_fd(), POLLIN, 0}, pollfd{signals_.resized_fd(), POLLIN, 0},
                        pollfd{wants_input && !input_ready_ ? STDIN_FILENO : -1, POLLIN, 0}};
  const int timeout = socket_.HasBuffered() ? 0 : desk_.IsAsking() ? kWhileAsking : -1;
  if (::poll(entries.data(), entries.size(), timeout) < 0) return Ready::kNothing;
  if (entries[3].revents != 0) input_ready_ = true;
  room_ = (entries[0].revents & POLLOUT) != 0;
  const bool readable = (entries[0].revents & ~POLLOUT) != 0;
  return readable || socket_.HasBuffered() ? Ready::kSocket : Ready::kNothing;
}

base::Status Attachment::HeedSignals() {
  eventfd_t count = 0;
  std::array entries = {pollfd{signals_.interrupt_fd(), POLLIN, 0}, pollfd{signals_.resized_fd(), POLLIN, 0}};
  if (::poll(entries.data(), entries.size(), 0) <= 0) return {};
  if (entries[0].revents != 0) {
    (void)::eventfd_read(signals_.interrupt_fd(), &count);
    // No program runs yet that could take a signal.
    if (asked_) {
      left_ = true;
      return {};
    }
    SKERRY_RETURN_IF_ERROR(Say({{"type", "signal"}, {"signal", NameOfSignal(signals_.signal())}}));
  }
  if (entries[1].revents != 0 && ::eventfd_read(signals_.resized_fd(), &count) == 0 &&
      options_.window == Window::kRaw) {
    const core::TerminalSize size = RawTerminal::Size();
    return Say({{"type", "resize"}, {"rows", size.rows}, {"columns", size.columns}});
  }
  return {};
}

base::Status Attachment::PassOnInput() {
  std::array<char, kPiece> piece{};
  const ssize_t count = ::read(STDIN_FILENO, piece.data(), piece.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return {};
  input_ready_ = false;
  if (count > 0)
    return socket_.Send(WebSocket::Kind::kBinary, {piece.data(), static_cast<std::size_t>(count)},
                        base::Deadline::Never());
  // The end of a terminal is the end of input, as with a file.
  options_.input = Input::kNone;
  return Say({{"type", "end"}});
}

base::Status Attachment::TakeMessage() {
  constexpr auto kShort = std::chrono::milliseconds(20);
  auto message = socket_.Receive(base::Deadline::After(kShort));
  if (!message && message.error().code == base::Code::kTimeout) return {};  // half a message
  if (!message) return std::unexpected(message.error());
  if (message->kind == WebSocket::Kind::kClosed)
    return base::Err(base::Code::kUnavailable,
                     "the daemon ended the connection" + (message->bytes.empty() ? "" : ": " + message->bytes));
  if (message->kind == WebSocket::Kind::kBinary) {
    TakeOutput(message->bytes);
    return {};
  }
  const Json notice = json::Parse(message->bytes);
  if (TextIn(notice, "type") == "approval") {
    raw_.reset();
    asked_ = true;
    desk_.Ask(notice);
  }
  if (TextIn(notice, "type") == "exit") end_ = notice;
  return {};
}

void Attachment::TakeOutput(const std::string& message) {
  constexpr char kStderr = 2;
  if (message.empty()) return;
  if (std::exchange(asked_, false)) desk_.Withdraw();
  const auto stream = message.front() == kStderr ? core::Stream::kStderr : core::Stream::kStdout;
  const std::string_view bytes = std::string_view(message).substr(1);
  if (options_.output == Output::kCollected) {
    (stream == core::Stream::kStdout ? standard_output_ : standard_error_) += bytes;
    return;
  }
  const core::SinkAnswer answer = sink_.Write(stream, bytes, base::Deadline::Never());
  if (answer.wants_more) return;
  // An interrupted write is no reason to leave: the signal is for the command first, and the reader loses what did not
  // fit.
  left_ = sink_.error() != 0;
}

base::Status Attachment::Say(const Json& words) {
  return socket_.Send(WebSocket::Kind::kText, json::Text(words), base::Deadline::Never());
}

}  // namespace skerry::cli
