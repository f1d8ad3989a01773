// Scopes: what a principal may do, and what each kind of deed needs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "core/service_store.hpp"

namespace skerry::engine {

// Any one of these scopes, as bits of 1 << core::TokenScope.
struct Need {
  std::uint32_t any_of = 0;

  bool operator==(const Need&) const = default;
};

class Scopes {
 public:
  constexpr Scopes() = default;
  constexpr Scopes(std::initializer_list<core::TokenScope> scopes) {
    for (const core::TokenScope scope : scopes) bits_ |= BitOf(scope);
  }
  static constexpr Scopes OfBits(std::uint32_t bits) {
    Scopes scopes;
    scopes.bits_ = bits;
    return scopes;
  }

  [[nodiscard]] constexpr std::uint32_t bits() const { return bits_; }
  [[nodiscard]] constexpr bool Has(core::TokenScope scope) const { return (bits_ & BitOf(scope)) != 0; }
  [[nodiscard]] constexpr bool May(Need need) const { return (bits_ & need.any_of) != 0; }

 private:
  static constexpr std::uint32_t BitOf(core::TokenScope scope) { return 1U << static_cast<unsigned>(scope); }

  std::uint32_t bits_ = 0;
};

constexpr Need AnyOf(std::initializer_list<core::TokenScope> scopes) {
  return {Scopes(scopes).bits()};
}

// `admin` may do everything; a principal that may run may also read the results.
inline constexpr Need kToRead = AnyOf({core::TokenScope::kRead, core::TokenScope::kRun, core::TokenScope::kAdmin});
inline constexpr Need kToRun = AnyOf({core::TokenScope::kRun, core::TokenScope::kAdmin});
inline constexpr Need kToApprove = AnyOf({core::TokenScope::kApprove, core::TokenScope::kAdmin});
inline constexpr Need kToAdminister = AnyOf({core::TokenScope::kAdmin});
inline constexpr Need kToMeasure = AnyOf({core::TokenScope::kMetrics, core::TokenScope::kAdmin});
// Events: a principal that may only approve sees only those of approvals.
inline constexpr Need kToFollow{kToRead.any_of | kToApprove.any_of};

// "read or run or admin"
std::string NamesOf(Need need);

}  // namespace skerry::engine
