#include "watch/announcer.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/hmac.hpp"
#include "base/ids.hpp"

namespace skerry::watch {
namespace {

using Steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kGone = 410;

// A wait that no clock can overflow.
milliseconds TimeUntil(std::chrono::system_clock::time_point until) {
  constexpr std::chrono::hours kLongest{24 * 365};
  const auto now = std::chrono::system_clock::now();
  if (until <= now) return milliseconds(0);
  if (until > now + kLongest) return kLongest;
  return std::chrono::ceil<milliseconds>(until - now);
}

bool IsHeard(const base::Result<int>& answer) {
  return answer && *answer >= 200 && *answer < 300;
}

std::string ProblemOf(const base::Result<int>& answer) {
  return answer ? "the server answered " + std::to_string(*answer) : answer.error().message;
}

}  // namespace

std::string SignatureOf(std::string_view secret, std::string_view timestamp, std::string_view body) {
  std::string text(timestamp);
  text.append(".").append(body);
  return "v1=" + base::HmacSha256Hex(secret, text);
}

struct Announcer::State {
  struct Entry {
    Announcement announcement;
    std::string delivery;
    Steady::time_point next;
    Steady::time_point until;
    milliseconds pause;

    [[nodiscard]] Steady::time_point due() const { return std::min(next, until); }
  };

  const AnnouncerOptions options;
  const Post post;

  std::mutex said_mutex;
  std::function<void(const std::string&)> said;

  mutable std::mutex mutex;
  std::condition_variable_any changed;
  std::vector<Entry> waiting;
  std::uint64_t announced = 0;
  std::string sending;     // id of the announcement that is being sent
  bool withdrawn = false;  // that announcement was withdrawn meanwhile
  bool failing = false;
  AnnouncerStatistics statistics;

  State(AnnouncerOptions given, Post sender, std::function<void(const std::string&)> listener)
      : options(std::move(given)), post(std::move(sender)), said(std::move(listener)) {}

  void Say(const std::string& text) {
    const std::scoped_lock lock(said_mutex);
    if (said) said(text);
  }

  void GiveUp(const std::string& id, const std::string& why) {
    {
      const std::scoped_lock lock(mutex);
      ++statistics.given_up;
    }
    Say("the request " + id + " was not announced to sandbox.approvals.webhookUrl: " + why);
  }

  // The announcement that is due first, as soon as it is due. Nothing at the end.
  std::optional<Entry> Take(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      if (waiting.empty()) {
        (void)changed.wait(lock, stop, [&] { return !waiting.empty(); });
        continue;
      }
      const auto first = std::ranges::min_element(waiting, {}, &Entry::due);
      const auto due = first->due();
      if (due > Steady::now()) {
        (void)changed.wait_until(lock, stop, due, [&, before = announced] { return announced != before; });
        continue;
      }
      Entry entry = std::move(*first);
      waiting.erase(first);
      sending = entry.announcement.id;
      withdrawn = false;
      return entry;
    }
    return std::nullopt;
  }

  base::Result<int> Send(const Entry& entry) const {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::string timestamp = std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count());
    const auto left = std::chrono::ceil<milliseconds>(entry.until - Steady::now());
    const std::string& body = entry.announcement.body;
    return post({.url = options.url,
                 .headers = {{"Content-Type", "application/json"},
                             {"Skerry-Delivery", entry.delivery},
                             {"Skerry-Timestamp", timestamp},
                             {"Skerry-Signature", SignatureOf(options.secret, timestamp, body)}},
                 .body = body,
                 .timeout = std::clamp(left, milliseconds(1), options.timeout)});
  }

  // Whether the failure should be reported: only the first after a success.
  bool CountFailure() {
    ++statistics.failed_attempts;
    return !std::exchange(failing, true);
  }

  void Attempt(Entry entry) {
    const base::Result<int> answer = Send(entry);
    const std::string id = entry.announcement.id;
    bool first_failure = false;
    {
      const std::scoped_lock lock(mutex);
      sending.clear();
      if (IsHeard(answer)) {
        ++statistics.delivered;
        failing = false;
        return;
      }
      first_failure = CountFailure();
      if (withdrawn) return;
      if (!answer || *answer != kGone) {
        entry.next = Steady::now() + entry.pause;
        entry.pause = std::min(entry.pause * 2, options.longest_pause);
        waiting.push_back(std::move(entry));
      }
    }
    if (answer && *answer == kGone) return GiveUp(id, "the server wants to hear no more of it (410)");
    if (first_failure)
      Say("the request " + id + " could not be announced: " + ProblemOf(answer) + "; it is tried again");
  }

  void Work(const std::stop_token& stop) {
    while (auto entry = Take(stop)) {
      if (Steady::now() >= entry->until)
        GiveUp(entry->announcement.id, "its time was over before anybody heard of it");
      else
        Attempt(std::move(*entry));
    }
  }
};

Announcer::Announcer(AnnouncerOptions options, Post post, std::function<void(const std::string&)> said)
    : state_(std::make_shared<State>(std::move(options), std::move(post), std::move(said))),
      thread_([state = state_](const std::stop_token& stop) { state->Work(stop); }) {}

Announcer::~Announcer() {
  thread_.End();
  const std::scoped_lock lock(state_->said_mutex);
  state_->said = nullptr;
}

void Announcer::Announce(Announcement announcement) {
  const auto now = Steady::now();
  State::Entry entry{.announcement = std::move(announcement),
                     .delivery = base::RandomId("dlv_"),
                     .next = now,
                     .until = now,
                     .pause = state_->options.first_pause};
  entry.until += TimeUntil(entry.announcement.until);
  const std::string id = entry.announcement.id;
  {
    const std::scoped_lock lock(state_->mutex);
    if (state_->waiting.size() < state_->options.max_waiting) {
      state_->waiting.push_back(std::move(entry));
      ++state_->announced;
      state_->changed.notify_one();
      return;
    }
  }
  state_->GiveUp(id, "too many others wait already");
}

void Announcer::Withdraw(const std::string& id) {
  const std::scoped_lock lock(state_->mutex);
  if (state_->sending == id) state_->withdrawn = true;
  std::erase_if(state_->waiting, [&](const State::Entry& entry) { return entry.announcement.id == id; });
}

AnnouncerStatistics Announcer::Statistics() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->statistics;
}

}  // namespace skerry::watch
