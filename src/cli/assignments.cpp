#include "cli/assignments.hpp"

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "cli/daemon_client.hpp"

namespace skerry::cli {

base::Result<nlohmann::ordered_json> AssignmentsToJson(const std::vector<std::string>& items,
                                                       const std::string& option) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const std::string& item : items) {
    const std::size_t sign = item.find('=');
    if (sign == std::string::npos || sign == 0)
      return base::Err(base::Code::kInvalidArgument,
                       option + " takes NAME=VALUE, not " + base::Printable(base::Excerpt(item)));
    SKERRY_RETURN_IF_ERROR(CheckIsText(item, option));
    object[item.substr(0, sign)] = item.substr(sign + 1);
  }
  return object;
}

}  // namespace skerry::cli
