// What a package.json says about which files its names stand for.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skerry::engine {

struct PackageDescription {
  // A name or a pattern, and all that it may stand for, under whatever conditions.
  using Routes = std::vector<std::pair<std::string, std::vector<std::string>>>;

  std::string name;
  std::vector<std::string> mains;  // where it begins, besides what it exports as "."
  Routes exports;                  // ".", "./x", "./x/*"
  Routes imports;                  // "#x", "#x/*"
  bool is_whole = true;            // false: nested too deeply to be read to its end
};

// What is no such description is an empty one.
PackageDescription ReadPackageDescription(std::string_view text);

// What the name stands for.
std::vector<std::string> TargetsOf(const PackageDescription::Routes& routes, std::string_view name);

}  // namespace skerry::engine
