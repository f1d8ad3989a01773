#include "transport/http/places.hpp"

#include <algorithm>

namespace skerry::transport::http {

PlacesOptions SharesOf(std::size_t all, std::size_t per_peer) {
  constexpr std::size_t kQuarter = 4;
  constexpr std::size_t kEighth = 8;
  const auto share = [all](std::size_t part) { return std::max<std::size_t>(all / part, 1); };
  return {.all = all,
          .per_peer = per_peer,
          .per_tenant = share(kQuarter),
          .strangers = share(kQuarter),
          .for_owner = all > 1 ? share(kEighth) : 0};
}

std::size_t Places::CountOf(const Counts& counts, const std::string& name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

void Places::Drop(Counts& counts, const std::string& name) {
  const auto found = counts.find(name);
  if (found != counts.end() && --found->second == 0) counts.erase(found);
}

bool Places::HasRoom(Door door) const {
  if (held_.size() >= options_.all) return false;
  return door == Door::kOwner ||
         (strangers_ < options_.strangers && held_.size() - owners_ + options_.for_owner < options_.all);
}

// The oldest stranger of this peer, or of the peer that has the most strangers.
std::optional<Places::Id> Places::OldestStranger(const std::string* peer) const {
  if (strangers_of_.empty()) return std::nullopt;
  const std::string& whose =
      peer != nullptr ? *peer : std::ranges::max_element(strangers_of_, {}, &Counts::value_type::second)->first;
  for (const auto& [id, place] : held_)
    if (place.IsStranger() && place.peer == whose) return id;
  return std::nullopt;
}

Places::Entry Places::Enter(Door door, const std::string& peer) {
  Entry entry;
  const bool has_many = CountOf(per_peer_, peer) >= options_.per_peer;
  if (has_many || !HasRoom(door)) {
    entry.leaves = OldestStranger(has_many ? &peer : nullptr);
    if (!entry.leaves) return entry;
    Leave(*entry.leaves);
  }
  entry.id = next_++;
  held_.emplace(*entry.id, Place{.door = door, .peer = peer});
  ++per_peer_[peer];
  if (door == Door::kOwner) {
    ++owners_;
  } else {
    ++strangers_;
    ++strangers_of_[peer];
  }
  return entry;
}

bool Places::Show(Id id, const std::string& tenant) {
  const auto found = held_.find(id);
  if (found == held_.end()) return false;
  Place& place = found->second;
  if (place.door == Door::kOwner || (place.known && place.tenant == tenant)) return true;
  if (CountOf(per_tenant_, tenant) >= options_.per_tenant) return false;
  Distrust(id);
  place.known = true;
  place.tenant = tenant;
  ++per_tenant_[tenant];
  --strangers_;
  Drop(strangers_of_, place.peer);
  Drop(per_peer_, place.peer);
  return true;
}

void Places::Distrust(Id id) {
  const auto found = held_.find(id);
  if (found == held_.end() || !found->second.known) return;
  Drop(per_tenant_, found->second.tenant);
  found->second.known = false;
  ++per_peer_[found->second.peer];
  ++strangers_;
  ++strangers_of_[found->second.peer];
}

void Places::Leave(Id id) {
  const auto found = held_.find(id);
  if (found == held_.end()) return;
  Distrust(id);
  const Place& place = found->second;
  Drop(per_peer_, place.peer);
  if (place.door == Door::kOwner) {
    --owners_;
  } else {
    --strangers_;
    Drop(strangers_of_, place.peer);
  }
  held_.erase(found);
}

}  // namespace skerry::transport::http
