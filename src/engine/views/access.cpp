#include "engine/views/access.hpp"

#include "engine/host.hpp"

namespace skerry::engine {

bool Access::Holds() const {
  return principal_.owner || host_.tokens().Holds(principal_.id);
}

base::Result<ArchiveSpool> Access::MakeSpool(std::stop_token gone) const {
  const auto reach = principal_.owner ? base::Reach::kReserve : base::Reach::kTenant;
  auto spool =
      ArchiveSpool::Make(host_.options().state_directory, std::move(gone), {host_.spool(), principal_.tenant, reach});
  if (!spool) return std::unexpected(host_.Told(principal_, std::move(spool).error()));
  return spool;
}

}  // namespace skerry::engine
