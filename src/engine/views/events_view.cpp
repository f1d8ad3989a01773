#include "engine/views/events_view.hpp"

#include <algorithm>

#include "engine/host.hpp"

namespace skerry::engine {

std::unique_ptr<EventReader> EventFeed::Open(std::function<void()> wake) const {
  return log_.Open(filter_, after_, std::move(wake));
}

base::Result<EventFeed> EventsView::Follow(EventWish wish) const {
  return Allowed(kToFollow, [&]() -> base::Result<EventFeed> {
    constexpr std::size_t kMostTypes = 32;
    constexpr std::string_view kApprovals = "approval.";
    if (wish.types.size() > kMostTypes) return base::Err(base::Code::kInvalidArgument, "types: at most 32");
    watch::EventFilter filter;
    if (!principal().everybody()) filter.tenant = principal().tenant;
    if (wish.session) {
      SKERRY_ASSIGN_OR_RETURN(const auto session, host().Find(principal(), *wish.session));
      filter.session = session->name();
      filter.tenant = session->tenant();
    }
    filter.types = std::move(wish.types);
    if (!principal().scopes.May(kToRead)) {
      if (!std::ranges::all_of(filter.types, [&](const std::string& type) { return type.starts_with(kApprovals); }))
        return base::Err(base::Code::kPermissionDenied, "events other than approval. need the scope read");
      if (filter.types.empty()) filter.types.emplace_back(kApprovals);
    }
    return EventFeed(chronicle().events(), std::move(filter), wish.after);
  });
}

}  // namespace skerry::engine
