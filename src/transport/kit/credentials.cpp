#include "transport/kit/credentials.hpp"

#include <utility>

namespace skerry::transport::kit {

std::function<base::Result<std::optional<std::string>>(const http::RequestHead&)> HeaderCredential(std::string name) {
  return [name = std::move(name)](const http::RequestHead& head) -> base::Result<std::optional<std::string>> {
    if (head.headers.Count(name) > 1)
      return base::Err(base::Code::kInvalidArgument, "more than one " + name + " header");
    const auto value = head.headers.Find(name);
    if (!value) return std::nullopt;
    if (value->empty()) return base::Err(base::Code::kUnauthenticated, "the header " + name + " is empty");
    return std::string(*value);
  };
}

}  // namespace skerry::transport::kit
