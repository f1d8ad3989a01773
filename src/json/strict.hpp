// JSON from untrusted clients: unusual documents are refused, and reading one never costs more than its size.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.hpp"

namespace skerry::json {

struct StrictLimits {
  std::size_t depth = 32;
  std::size_t values = 100'000;  // of all kinds, with the names of fields
};

// The value of a text. kInvalidArgument, with the position where it is known, for: no JSON, bytes that are no UTF-8, a
// field that comes twice in an object, text after the end, more than the limits.
base::Result<nlohmann::json> ParseStrict(std::string_view text, const StrictLimits& limits = {});

// Reads the fields of an object, each asked for once. The first problem is kept; from then on every field reads as
// missing. `object` is borrowed.
class Fields {
 public:
  // `where` is how the object is called in messages: "", "limits.".
  explicit Fields(const nlohmann::json& object, std::string where = "");

  std::optional<std::string> Text(std::string_view name, std::size_t longest);
  std::optional<std::uint64_t> Number(std::string_view name, std::uint64_t low, std::uint64_t high);
  std::optional<bool> Flag(std::string_view name);
  std::optional<std::vector<std::string>> Texts(std::string_view name, std::size_t most, std::size_t longest);
  std::optional<std::map<std::string, std::string>> Map(std::string_view name, std::size_t most, std::size_t longest);
  // A field that must be one of these words.
  std::optional<std::string> Word(std::string_view name, std::span<const std::string_view> words);
  // A field that is an object or an array, as it is; nullptr when it is missing.
  const nlohmann::json* Object(std::string_view name);
  const nlohmann::json* Array(std::string_view name, std::size_t most);

  void Fail(std::string_view name, const std::string& problem);
  // The first problem, or an error when the object has a field that was not asked for.
  base::Status Finish();
  // Finishes `inner`, the fields of an object inside of this one, and takes over its problem.
  void Adopt(Fields& inner);

 private:
  const nlohmann::json* Take(std::string_view name);
  [[nodiscard]] base::Status NoField(const std::string& name) const;

  const nlohmann::json& object_;
  std::string where_;
  std::set<std::string, std::less<>> asked_;
  std::optional<base::Error> error_;
};

}  // namespace skerry::json
