// EventLog: what happens in the daemon, in order, for the clients that follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/record.hpp"

namespace skerry::watch {

// One thing that happened. Never changes.
struct Event {
  std::uint64_t sequence = 0;
  std::string type;     // "session.created": a noun, a dot, what happened to it
  std::string tenant;   // of the session or run; "" for events of the daemon itself
  std::string session;  // "" for none
  std::string text;     // one line of JSON: sequence, type, at, session_id, and what the type has besides
};

struct NewEvent {
  std::string type;
  std::string tenant;
  std::string session;
};

struct EventFilter {
  std::optional<std::string> tenant;  // only this tenant's events; none: those of all tenants
  std::optional<std::string> session;
  std::vector<std::string> types;  // "approval." is all that begin so; empty: all
  [[nodiscard]] bool Lets(const Event& event) const;
};

struct EventLogOptions {
  std::size_t max_events = 16'384;
  std::size_t max_bytes = std::size_t{16} << 20U;  // of their texts
  std::uint64_t first = 0;                         // number before the first event; 0: the clock's microseconds
};

class EventReader;

// Thread-safe. Must outlive its readers.
class EventLog {
 public:
  explicit EventLog(EventLogOptions options = {});
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  ~EventLog();

  // Returns at once. `details` is an object whose members come behind the common ones.
  void Publish(const NewEvent& event, const nlohmann::ordered_json& details);

  // A reader of the events after number `after`, or from now on. `wake` is called, by any thread and while the log
  // holds no lock, when Next has something again after it had nothing.
  [[nodiscard]] std::unique_ptr<EventReader> Open(EventFilter filter, std::optional<std::uint64_t> after,
                                                  std::function<void()> wake);

  [[nodiscard]] std::uint64_t last() const;  // number of the newest event
  [[nodiscard]] std::size_t readers() const;
  [[nodiscard]] std::uint64_t dropped() const;  // readers that were too slow

 private:
  friend class EventReader;
  struct Place;
  const EventLogOptions options_;
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<const Event>> events_;
  std::size_t bytes_ = 0;
  std::uint64_t last_;
  std::list<Place> places_;
  std::uint64_t dropped_ = 0;
};

// The events that a reader gets next.
struct EventBatch {
  // Events that the log had dropped before the reader came: from here to there.
  struct Gap {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
  };
  std::optional<Gap> gap;  // set once, before the first event
  std::vector<std::shared_ptr<const Event>> events;
  bool too_slow = false;  // the log has dropped the events that this reader would get next: it gets no more
};

// Of one thread. Keeps a place in the log and nothing else.
class EventReader {
 public:
  ~EventReader();
  // The next events: about `max_bytes` of text at most, and at least one event if there is one. An empty batch: `wake`
  // will be called.
  EventBatch Next(std::size_t max_bytes);
  // The number of the last event that was read: a client that reconnects goes on behind it.
  [[nodiscard]] std::uint64_t at() const;

 private:
  friend class EventLog;
  EventReader(EventLog& log, std::list<EventLog::Place>::iterator place) : log_(log), place_(place) {}
  EventLog& log_;
  std::list<EventLog::Place>::iterator place_;
};

}  // namespace skerry::watch
