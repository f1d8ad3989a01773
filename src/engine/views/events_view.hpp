// EventsView: what happens, as it happens, for a principal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/views/view.hpp"
#include "watch/event_log.hpp"

namespace skerry::engine {

using EventBatch = watch::EventBatch;
using EventReader = watch::EventReader;

struct EventWish {
  std::optional<std::string> session;
  std::vector<std::string> types;      // "approval." stands for all types that begin so; none: all
  std::optional<std::uint64_t> after;  // the number of an event; none: from now on
};

// Events that a principal may see, not read yet.
class EventFeed {
 public:
  // `wake` is called, by any thread, when there are events again after there were none.
  [[nodiscard]] std::unique_ptr<EventReader> Open(std::function<void()> wake) const;

 private:
  friend class EventsView;
  EventFeed(watch::EventLog& log, watch::EventFilter filter, std::optional<std::uint64_t> after)
      : log_(log), filter_(std::move(filter)), after_(after) {}

  watch::EventLog& log_;
  watch::EventFilter filter_;
  std::optional<std::uint64_t> after_;
};

class EventsView : public View {
 public:
  explicit EventsView(const Access& access) : View(access) {}

  // Events of the principal's tenant, of all tenants for an admin. A principal that may only approve gets those of
  // approvals, and kPermissionDenied for other types.
  [[nodiscard]] base::Result<EventFeed> Follow(EventWish wish) const;
};

}  // namespace skerry::engine
