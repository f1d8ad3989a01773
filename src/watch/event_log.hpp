// EventLog: what happens, in order, for whoever follows along.
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

// Never changes.
struct Event {
  std::uint64_t sequence = 0;
  std::string type;     // "session.created": a noun, a dot, what became of it
  std::string tenant;   // whose; "" for the daemon's own
  std::string session;  // "" for none
  std::string text;     // one line of JSON: sequence, type, at, session_id, and what the type has besides
};

struct NewEvent {
  std::string type;
  std::string tenant;
  std::string session;
};

struct EventFilter {
  std::optional<std::string> tenant;  // none: everybody's
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

  // Follows what comes after `after`, or from now on. `wake` is called, by any thread and under no lock of ours, when
  // Next has something again after it had nothing.
  [[nodiscard]] std::unique_ptr<EventReader> Open(EventFilter filter, std::optional<std::uint64_t> after,
                                                  std::function<void()> wake);

  [[nodiscard]] std::uint64_t last() const;  // number of the newest
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

// What a reader gets next.
struct EventBatch {
  // Events from here to there were gone before they could be read: those of before the reader came.
  struct Gap {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
  };
  std::optional<Gap> gap;  // told first, once
  std::vector<std::shared_ptr<const Event>> events;
  bool too_slow = false;  // what came next was lost meanwhile: there is nothing more to be had
};

// Of one thread. Keeps a place in the log and nothing else.
class EventReader {
 public:
  ~EventReader();
  // At most about `max_bytes` of text, and at least one event if there is one. Nothing at all: `wake` will be called.
  EventBatch Next(std::size_t max_bytes);
  // Behind what was read; where to go on after a reconnect.
  [[nodiscard]] std::uint64_t at() const;

 private:
  friend class EventLog;
  EventReader(EventLog& log, std::list<EventLog::Place>::iterator place) : log_(log), place_(place) {}
  EventLog& log_;
  std::list<EventLog::Place>::iterator place_;
};

}  // namespace skerry::watch
