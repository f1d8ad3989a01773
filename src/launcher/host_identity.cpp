#include "launcher/host_identity.hpp"

#include <unistd.h>

#include "base/ids.hpp"

namespace skerry::launcher {
namespace {

// Far above the ids that distributions, directory services and container engines hand out, below the signed limit.
constexpr std::uint64_t kFirstId = 0x6000'0000;
constexpr std::uint64_t kIdCount = 0x1000'0000;

}  // namespace

HostIdentity ChooseIdentity() {
  if (::geteuid() != 0) return {::geteuid(), ::getegid()};
  const auto id = static_cast<uid_t>(kFirstId + base::RandomU64() % kIdCount);
  return {id, id};
}

}  // namespace skerry::launcher
