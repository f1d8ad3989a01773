#include "cli/approvals_watch.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "base/utf8.hpp"
#include "cli/answer.hpp"
#include "cli/approvals_text.hpp"
#include "cli/cell_text.hpp"
#include "cli/command_output.hpp"
#include "cli/raw_terminal.hpp"
#include "cli/terminal.hpp"
#include "cli/tty.hpp"

namespace skerry::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kTypes = "approval.";
constexpr std::chrono::milliseconds kFirstPause{100};
constexpr std::chrono::milliseconds kLongestPause{5000};
// A key that was meant for the previous question must not answer the next one.
constexpr std::chrono::milliseconds kTimeToLook{400};
constexpr std::size_t kMostReason = 500;
constexpr std::size_t kMostRows = 500;
constexpr std::size_t kAllRows = 1'000'000;

std::chrono::milliseconds Longer(std::chrono::milliseconds pause) {
  return std::clamp(pause * 2, kFirstPause, kLongestPause);
}

// Opens the feed again, however often that takes.
base::Status OpenAgain(EventFeed& feed) {
  for (auto pause = kFirstPause;; pause = Longer(pause)) {
    std::this_thread::sleep_for(pause);
    const auto opened = feed.Open();
    if (opened || !MayPass(opened.error())) return opened;
  }
}

}  // namespace

base::Result<int> FollowApprovals(const DaemonClient& daemon, const WatchOptions& options) {
  EventFeed feed(daemon, options.session, std::string(kTypes));
  SKERRY_RETURN_IF_ERROR(feed.Open());
  for (;;) {
    const auto event = feed.Next(base::Deadline::Never());
    if (!event) {
      Note(event.error().message + "; trying again");
      SKERRY_RETURN_IF_ERROR(OpenAgain(feed));
      Note(feed.KnowsItsPlace() ? "connected again" : "connected again; skerry approvals lists what waits");
    } else if (*event) {
      SKERRY_RETURN_IF_ERROR(WriteJson(**event));
      if (options.until == WatchOptions::Until::kFirstIsOver && TextIn(**event, "type") == "approval.decided") return 0;
    }
  }
}

ApprovalsWatch::ApprovalsWatch(const DaemonClient& daemon, WatchOptions options)
    : daemon_(daemon.Again()), options_(std::move(options)), feed_(daemon, options_.session, std::string(kTypes)) {}

base::Result<int> ApprovalsWatch::Run() {
  SKERRY_RETURN_IF_ERROR(Connect());
  terminal_.emplace(KeyTerminal::Screen::kSame);
  while (!done_) {
    ShowFront();
    PaintStatus();
    Await();
    if (keys_there_) TakeKeys();
    if (!done_) SKERRY_RETURN_IF_ERROR(feed_.IsOpen() ? TakeEvents() : ConnectAgain());
  }
  return 0;
}

// First the events, then the list of waiting approvals: so none is missed in between.
base::Status ApprovalsWatch::Connect() {
  SKERRY_RETURN_IF_ERROR(feed_.Open());
  auto known = Synchronize();
  if (!known) feed_.Close();
  return known;
}

base::Status ApprovalsWatch::Synchronize() {
  SKERRY_ASSIGN_OR_RETURN(const Json waiting, WaitingApprovals(daemon_, options_.session));
  for (const std::string& id : round_.Replace(waiting)) Remove(id, id + " is gone");
  return {};
}

base::Status ApprovalsWatch::ConnectAgain() {
  if (!next_try_.Expired()) return {};
  const auto connected = Connect();
  if (!connected && !MayPass(connected.error())) return connected;
  if (connected) {
    status_.line = RoundStatus::Line::kThere;
    pause_ = {};
    Say("connected again");
    return {};
  }
  pause_ = Longer(pause_);
  next_try_ = base::Deadline::After(pause_);
  return {};
}

void ApprovalsWatch::Await() {
  constexpr std::chrono::seconds kTick{1};
  base::Deadline until = round_.front() != nullptr ? base::Deadline::After(kTick) : base::Deadline::Never();
  if (status_.keys == RoundStatus::Keys::kNotYet) until = until.EarlierOf(keys_from_);
  if (!feed_.IsOpen()) until = until.EarlierOf(next_try_);
  std::array entries = {pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{feed_.fd(), POLLIN, 0},
                        pollfd{terminal_->changed_fd(), POLLIN, 0}};
  const int ready = ::poll(entries.data(), entries.size(), feed_.HasBuffered() ? 0 : until.PollTimeoutMs());
  keys_there_ = ready > 0 && entries[0].revents != 0;
  events_there_ = ready > 0 && entries[1].revents != 0;
  if (ready > 0 && entries[2].revents != 0) {
    terminal_->HeedChange();
    painted_.clear();
  }
  if (status_.keys == RoundStatus::Keys::kNotYet && keys_from_.Expired()) {
    terminal_->DiscardTypeahead();
    keys_there_ = false;
    status_.keys = RoundStatus::Keys::kHeeded;
  }
}

// --- messages of the daemon ---

base::Status ApprovalsWatch::TakeEvents() {
  constexpr std::chrono::milliseconds kShort{20};  // for the rest of a message that has begun
  while (std::exchange(events_there_, false) || feed_.HasBuffered()) {
    const auto event = feed_.Next(base::Deadline::After(kShort));
    if (event && !*event) return {};
    const base::Status taken = event ? TakeEvent(**event) : base::Status();
    if (event && taken) continue;
    const base::Error& error = event ? taken.error() : event.error();
    if (!MayPass(error)) return std::unexpected(error);
    Say(error.message);
    // When a question could not be fetched, the list after the reconnection has it.
    feed_.Close();
    status_.line = RoundStatus::Line::kLost;
    next_try_ = base::Deadline::After(pause_);
    return {};
  }
  return {};
}

base::Status ApprovalsWatch::TakeEvent(const Json& event) {
  const std::string type = TextIn(event, "type");
  const std::string id = TextIn(event, "approval_id");
  if (type == "gap") return Synchronize();
  if (type == "approval.requested") return TakeQuestion(id);
  if (type == "approval.decided") Remove(id, DecidedInWords(event));
  return {};
}

base::Status ApprovalsWatch::TakeQuestion(const std::string& id) {
  auto approval = daemon_.Ask("GET", "/v1/approvals/" + net::Escape(id));
  if (!approval) return MayPass(approval.error()) ? base::Status(std::unexpected(approval.error())) : base::Status();
  if (round_.Add(*std::move(approval)) && round_.size() > 1) {
    terminal_->Write("\a");
    Say(id + " waits too");
  }
  return {};
}

// Another client answered; the person's own answers are reported where they are given.
void ApprovalsWatch::Remove(const std::string& id, const std::string& word) {
  const bool was_shown = id == shown_;
  if (!round_.Remove(id) && !was_shown) return;
  Say(word);
  if (!was_shown) return;
  shown_.clear();
  status_.reason.reset();
  done_ = done_ || options_.until == WatchOptions::Until::kFirstIsOver;
}

// --- keys of the person ---

void ApprovalsWatch::TakeKeys() {
  const auto keys = terminal_->Read();
  if (!keys) {
    done_ = true;
    return;
  }
  for (const Key& key : *keys) {
    if (done_) return;
    status_.reason ? PressWhileTyping(key) : Press(key);
  }
}

void ApprovalsWatch::Press(const Key& key) {
  const char letter = key.letter();
  if (letter == 'q') done_ = true;
  const WaitingQuestion* question = round_.front();
  if (question == nullptr || question->id != shown_ || status_.keys == RoundStatus::Keys::kNotYet || !feed_.IsOpen())
    return;
  using Kind = PersonsWord::Kind;
  if (letter == 'a') return Answer({.kind = Kind::kApprove, .scope = "once"});
  if (letter == 's' && Offers(question->approval, "session"))
    return Answer({.kind = Kind::kApprove, .scope = "session"});
  if (letter == 'c' && Offers(question->approval, "content"))
    return Answer({.kind = Kind::kApprove, .scope = "content"});
  if (letter == 'r') status_.reason.emplace();
  if (letter == 'v') ViewWhole();
  if (letter == 'n' && round_.size() > 1)
    round_.Next();
  else if (letter == 'n')
    Say("no other question waits");
}

void ApprovalsWatch::PressWhileTyping(const Key& key) {
  std::string& reason = *status_.reason;
  switch (key.kind) {
    case Key::Kind::kEnter:
      return Answer(
          {.kind = PersonsWord::Kind::kReject, .reason = base::ToValidUtf8(*std::exchange(status_.reason, {}))});
    case Key::Kind::kEscape:
      return status_.reason.reset();
    case Key::Kind::kClearLine:
      return reason.clear();
    case Key::Kind::kBackspace:
      while (!reason.empty() && (static_cast<unsigned char>(reason.back()) & 0xC0U) == 0x80U) reason.pop_back();
      if (!reason.empty()) reason.pop_back();
      return;
    case Key::Kind::kCharacter:
      if (reason.size() + key.text.size() <= kMostReason) reason += key.text;
      return;
    case Key::Kind::kUp:
    case Key::Kind::kDown:
    case Key::Kind::kOther:
      return;
  }
}

void ApprovalsWatch::Answer(const PersonsWord& word) {
  if (round_.front() == nullptr || round_.front()->id != shown_) return;  // only a question on the screen is answered
  const WaitingQuestion question = *round_.front();
  const auto decided = Decide(daemon_, question.id, DecisionAsJson(word, TextIn(question.approval, "digest")));
  const bool approved = word.kind == PersonsWord::Kind::kApprove;
  if (decided)
    return Remove(question.id,
                  approved ? question.id + " approved " + ScopeInWords(word.scope) : question.id + " rejected");
  const std::string why = "the answer did not count: " + decided.error().message;
  using base::Code;
  constexpr std::array kOver = {Code::kConflict, Code::kRejected, Code::kNotFound};
  std::ranges::find(kOver, decided.error().code) != kOver.end() ? Remove(question.id, why) : Say(why);
}

void ApprovalsWatch::ViewWhole() {
  const std::string text = ApprovalAsText(round_.front()->approval, {.width = Width(), .max_rows = kAllRows});
  const bool paged = terminal_->Page(text);
  painted_.clear();
  if (!paged) Say("there is no pager; set PAGER to one");
}

// --- the screen ---

void ApprovalsWatch::ShowFront() {
  const WaitingQuestion* question = round_.front();
  if (question == nullptr || question->id == shown_) return;
  shown_ = question->id;
  status_.keys = RoundStatus::Keys::kNotYet;
  status_.reason.reset();
  keys_from_ = base::Deadline::After(kTimeToLook);
  const std::string text = ApprovalAsText(
      question->approval, {.colour = ColoursFor(STDOUT_FILENO), .width = Width(), .max_rows = kMostRows});
  terminal_->Write("\r\x1b[K\a\n" + text);
  painted_.clear();
}

void ApprovalsWatch::Say(std::string_view words) {
  if (!terminal_) return;
  terminal_->Write("\r\x1b[K" + CutTo(words, Width()) + "\n");
  painted_.clear();
}

void ApprovalsWatch::PaintStatus() {
  std::string row = StatusRow(round_, status_, Width());
  if (row == painted_) return;
  if (!terminal_->Write("\r\x1b[K" + row)) done_ = true;
  painted_ = std::move(row);
}

// One column less than there are: a cursor behind the last column is in the next row.
std::size_t ApprovalsWatch::Width() {
  constexpr std::uint64_t kLeast = 20;
  return std::max(kLeast, RawTerminal::Size().columns) - 1;
}

}  // namespace skerry::cli
