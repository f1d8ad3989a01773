// What a package.json says about which files its names stand for.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skerry::engine {

struct PackageDescription {
  // A name or a pattern, and all files that it may stand for, under whatever conditions.
  using Routes = std::vector<std::pair<std::string, std::vector<std::string>>>;

  std::string name;
  std::vector<std::string> mains;  // where the package begins, besides what it exports as "."
  Routes exports;                  // ".", "./x", "./x/*"
  Routes imports;                  // "#x", "#x/*"
  bool is_whole = true;            // false: nested too deeply to be read to its end
};

// Text that is no such description gives an empty one.
PackageDescription ReadPackageDescription(std::string_view text);

// The files that the name stands for.
std::vector<std::string> TargetsOf(const PackageDescription::Routes& routes, std::string_view name);

}  // namespace skerry::engine
