#include "json/bytes.hpp"

#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "json/base64.hpp"

namespace skerry::json {

void AddBytes(nlohmann::ordered_json& object, const std::string& name, const std::string& bytes) {
  object[name] = base::ToValidUtf8(bytes);
  if (!base::IsValidUtf8(bytes)) object[name + "_base64"] = Base64(bytes);
}

}  // namespace skerry::json
