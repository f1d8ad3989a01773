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
  std::vector<std::string> types;      // "approval." is all that begin so; none: all
  std::optional<std::uint64_t> after;  // a number; none: from now on
};

// Events that a principal may hear of, not read yet.
class EventFeed {
 public:
  // `wake` is called, by any thread, when there is something again after there was nothing.
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

  // Those of the principal's tenant; who may only approve hears of approvals only, and gets kPermissionDenied for other
  // types.
  [[nodiscard]] base::Result<EventFeed> Follow(EventWish wish) const;
};

}  // namespace skerry::engine
