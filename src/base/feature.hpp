// Parts of the kernel that a machine may lack. Tests hide them from the probe to see what a weaker machine gets.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace skerry::base {

enum class Feature : std::uint8_t { kUserNamespaces, kLandlock, kCgroups, kOverlay };

class FeatureSet {
 public:
  static constexpr std::uint64_t kAllBits = 0xF;

  constexpr FeatureSet() = default;
  static constexpr FeatureSet FromBits(std::uint64_t bits) {
    FeatureSet set;
    set.bits_ = bits & kAllBits;
    return set;
  }

  constexpr void Add(Feature feature) { bits_ |= std::uint64_t{1} << static_cast<unsigned>(feature); }
  [[nodiscard]] constexpr bool Has(Feature feature) const {
    return (bits_ >> static_cast<unsigned>(feature) & 1U) != 0;
  }
  [[nodiscard]] constexpr std::uint64_t bits() const { return bits_; }

 private:
  std::uint64_t bits_ = 0;
};

struct FeatureName {
  std::string_view name;
  Feature feature;
};
inline constexpr std::array kFeatureNames = {
    FeatureName{"userns", Feature::kUserNamespaces},
    FeatureName{"landlock", Feature::kLandlock},
    FeatureName{"cgroups", Feature::kCgroups},
    FeatureName{"overlay", Feature::kOverlay},
};

// "landlock,cgroups" gives both features. Nothing when one of the names is not known.
inline std::optional<FeatureSet> ParseFeatures(std::string_view text) {
  FeatureSet set;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    text.remove_prefix(name.size() < text.size() ? name.size() + 1 : name.size());
    bool known = false;
    for (const FeatureName& row : kFeatureNames) {
      if (row.name != name) continue;
      set.Add(row.feature);
      known = true;
    }
    if (!known) return std::nullopt;
  }
  return set;
}

}  // namespace skerry::base
