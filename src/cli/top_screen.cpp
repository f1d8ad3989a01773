#include "cli/top_screen.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/answer.hpp"
#include "cli/event_feed.hpp"
#include "cli/raw_terminal.hpp"
#include "cli/tty.hpp"
#include "workspace/session_directory.hpp"

namespace skerry::cli {

using Json = nlohmann::ordered_json;

base::Result<Json> AskSandboxes(DaemonClient& daemon, const std::optional<std::string>& session) {
  if (session) SKERRY_RETURN_IF_ERROR(workspace::CheckSessionReference(*session));
  SKERRY_ASSIGN_OR_RETURN(const Json page, daemon.Ask("GET", "/v1/sandboxes"));
  Json items = Json::array();
  for (const Json& sandbox : ListIn(page, "items"))
    if (!session || TextIn(sandbox, "session_id") == *session) items.push_back(sandbox);
  return items;
}

std::optional<std::uint64_t> CountWaiting(DaemonClient& daemon) {
  const auto page = daemon.Ask("GET", "/v1/approvals");
  return page ? std::optional<std::uint64_t>(ListIn(*page, "items").size()) : std::nullopt;
}

base::Result<int> TopScreen::Run() {
  SKERRY_RETURN_IF_ERROR(Refresh());
  terminal_.emplace(KeyTerminal::Screen::kAlternate);
  while (!done_) {
    Paint();
    Await();
    if (next_.Expired()) RefreshOrTell();
  }
  return 0;
}

base::Status TopScreen::Refresh() {
  next_ = base::Deadline::After(options_.interval);
  SKERRY_ASSIGN_OR_RETURN(const Json items, AskSandboxes(daemon_, options_.session));
  state_.Take(ReadingsFrom(items));
  waiting_ = CountWaiting(daemon_);
  return {};
}

// The last figures stay on the screen while the daemon is away.
void TopScreen::RefreshOrTell() {
  const auto refreshed = Refresh();
  constexpr std::string_view kTrouble = "no news: ";
  if (!refreshed) {
    notice_ = std::string(kTrouble) + refreshed.error().message;
  } else if (notice_.starts_with(kTrouble)) {
    notice_.clear();
  }
}

void TopScreen::Await() {
  std::array entries = {pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{terminal_->changed_fd(), POLLIN, 0}};
  if (::poll(entries.data(), entries.size(), next_.PollTimeoutMs()) <= 0) return;
  if (entries[1].revents != 0) terminal_->HeedChange();
  if (entries[0].revents != 0) TakeKeys();
}

void TopScreen::TakeKeys() {
  const auto keys = terminal_->Read();
  if (!keys) {
    done_ = true;
    return;
  }
  for (const Key& key : *keys) {
    const TopWish wish = state_.Press(key);
    if (wish.kind == TopWish::Kind::kQuit) done_ = true;
    if (wish.kind == TopWish::Kind::kEndRuns) EndRuns(wish.whom);
  }
}

void TopScreen::EndRuns(const SandboxReading& whom) {
  const std::string target = whom.session.empty() ? "/v1/executions/" + net::Escape(whom.execution) + "/cancel"
                                                  : "/v1/sessions/" + net::Escape(whom.session) + "/stop";
  const auto ended = daemon_.Ask("POST", target);
  notice_ = ended ? "ended what ran in " + whom.id() : "nothing was ended: " + ended.error().message;
  if (ended) (void)Refresh();
}

void TopScreen::Paint() {
  TopPage page = state_.Page(notice_);
  page.waiting = waiting_;
  page.now = std::chrono::system_clock::now();
  page.size = RawTerminal::Size();
  page.size.columns = std::max<std::uint64_t>(2, page.size.columns) - 1;  // so that the rest of a row can be erased
  page.colour = ColoursFor(STDOUT_FILENO);
  page.letters = GraphLettersHere();
  std::string text = "\x1b[H";
  std::string between;
  for (const std::string& row : TopRows(state_.readings(), page))
    text += std::exchange(between, "\r\n") + row + "\x1b[K";
  if (!terminal_->Write(text + "\x1b[J")) done_ = true;
}

}  // namespace skerry::cli
