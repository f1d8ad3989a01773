#include "watch/event_log.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "json/history_json.hpp"
#include "json/text.hpp"

namespace skerry::watch {
namespace {

using Json = nlohmann::ordered_json;

std::uint64_t ClockMicroseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

// The text behind the number: `,"type":…}`.
std::string TextBehindNumber(const NewEvent& event, const Json& details) {
  Json members;
  members["type"] = event.type;
  members["at"] = json::Rfc3339(std::chrono::system_clock::now());
  members["session_id"] = event.session.empty() ? Json(nullptr) : Json(event.session);
  for (const auto& [name, value] : details.items()) members[name] = value;
  std::string text = json::Text(members);
  text.front() = ',';
  return text;
}

bool Matches(const std::string& wanted, const std::string& type) {
  return wanted.ends_with('.') ? type.starts_with(wanted) : type == wanted;
}

}  // namespace

bool EventFilter::Lets(const Event& event) const {
  if (tenant && *tenant != event.tenant) return false;
  if (session && *session != event.session) return false;
  return types.empty() ||
         std::ranges::any_of(types, [&](const std::string& wanted) { return Matches(wanted, event.type); });
}

struct EventLog::Place {
  EventFilter filter;
  std::shared_ptr<const std::function<void()>> wake;  // shared: it outlives the reader while it is called
  std::uint64_t at = 0;                               // the last event that was read
  bool begun = false;                                 // the reader has asked for events
  bool armed = false;                                 // the reader has read everything and waits to be woken
  bool dropped = false;
};

EventLog::EventLog(EventLogOptions options)
    : options_(options), last_(options.first != 0 ? options.first : ClockMicroseconds()) {}

EventLog::~EventLog() = default;

void EventLog::Publish(const NewEvent& event, const Json& details) {
  const std::string rest = TextBehindNumber(event, details);
  std::vector<std::shared_ptr<const std::function<void()>>> woken;
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t sequence = last_ + 1;
    auto made = std::make_shared<const Event>(Event{.sequence = sequence,
                                                    .type = event.type,
                                                    .tenant = event.tenant,
                                                    .session = event.session,
                                                    .text = "{\"sequence\":" + std::to_string(sequence) + rest});
    for (Place& place : places_) {
      if (!place.armed) continue;
      // A waiting reader whose filter does not match counts as having read the event, so that a narrow filter never
      // makes a reader slow.
      place.armed = !place.filter.Lets(*made);
      if (place.armed) place.at = sequence;
      if (!place.armed && place.wake) woken.push_back(place.wake);
    }
    bytes_ += made->text.size();
    events_.push_back(std::move(made));
    last_ = sequence;
    // The newest event stays, however large it is.
    while (events_.size() > 1 && (events_.size() > options_.max_events || bytes_ > options_.max_bytes)) {
      bytes_ -= events_.front()->text.size();
      events_.pop_front();
    }
  }
  for (const auto& wake : woken) (*wake)();
}

std::unique_ptr<EventReader> EventLog::Open(EventFilter filter, std::optional<std::uint64_t> after,
                                            std::function<void()> wake) {
  Place place{.filter = std::move(filter)};
  if (wake) place.wake = std::make_shared<const std::function<void()>>(std::move(wake));
  const std::lock_guard lock(mutex_);
  place.at = after.value_or(last_);
  // A number in the future was given under another clock: every event here is new to that reader.
  if (place.at > last_) place.at = 0;
  places_.push_back(std::move(place));
  return std::unique_ptr<EventReader>(new EventReader(*this, std::prev(places_.end())));
}

std::uint64_t EventLog::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

std::size_t EventLog::readers() const {
  const std::lock_guard lock(mutex_);
  return places_.size();
}

std::uint64_t EventLog::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

EventReader::~EventReader() {
  const std::lock_guard lock(log_.mutex_);
  log_.places_.erase(place_);
}

std::uint64_t EventReader::at() const {
  const std::lock_guard lock(log_.mutex_);
  return place_->at;
}

EventBatch EventReader::Next(std::size_t max_bytes) {
  EventBatch batch;
  const std::lock_guard lock(log_.mutex_);
  EventLog::Place& place = *place_;
  const std::uint64_t lost = log_.last_ - log_.events_.size();  // number of the newest event that was dropped
  const bool begun = std::exchange(place.begun, true);
  if (place.dropped || (begun && place.at < lost)) {
    if (!std::exchange(place.dropped, true)) ++log_.dropped_;
    batch.too_slow = true;
    return batch;
  }
  if (place.at < lost) {
    batch.gap = {place.at + 1, lost};
    place.at = lost;
  }
  std::size_t bytes = 0;
  for (std::size_t index = place.at - lost; index < log_.events_.size(); ++index) {
    const auto& event = log_.events_[index];
    const bool wanted = place.filter.Lets(*event);
    if (wanted && bytes != 0 && bytes + event->text.size() > max_bytes) break;
    place.at = event->sequence;
    if (!wanted) continue;
    bytes += event->text.size();
    batch.events.push_back(event);
  }
  place.armed = !batch.gap && batch.events.empty();
  return batch;
}

}  // namespace skerry::watch
