#include "engine/secrets.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/printable.hpp"
#include "engine/principal.hpp"
#include "os/files.hpp"

namespace skerry::engine {
namespace {

constexpr std::string_view kReference = "secret:";
constexpr std::size_t kLongest = 32'768;

base::Result<std::string> ReadSource(const std::string& name, const SecretSource& source) {
  const auto unreadable = [&](const std::string& why) {
    return base::Err(base::Code::kUnavailable, "the secret " + name + " cannot be read: " + why);
  };
  if (source.kind == SecretSource::Kind::kVariable) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment.
    const char* value = std::getenv(source.from.c_str());
    if (value == nullptr) return unreadable("the variable " + source.from + " is not set");
    return value;
  }
  auto text = os::ReadFile(source.from, kLongest);
  if (!text) return unreadable(text.error().message);
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  return text;
}

bool MayUse(const SecretSource& source, const std::string& tenant) {
  if (tenant.empty()) return true;
  if (source.tenants.empty()) return tenant == kLocalTenant;
  return std::ranges::find(source.tenants, tenant) != source.tenants.end();
}

}  // namespace

base::Result<std::string> Secrets::Read(const std::string& name, const std::string& tenant) const {
  const auto found = sources_.find(name);
  if (found == sources_.end() || !MayUse(found->second, tenant))
    return base::Err(base::Code::kNotFound, "there is no secret '" + base::Printable(base::Excerpt(name)) +
                                                "' here; sandbox.secrets of the configuration names them");
  return ReadSource(name, found->second);
}

base::Result<ResolvedEnvironment> Resolve(const Environment& environment, const std::set<std::string>& secret,
                                          const Secrets& secrets, const std::string& tenant) {
  ResolvedEnvironment resolved{.values = environment};
  for (auto& [name, value] : resolved.values) {
    const bool refers = value.starts_with(kReference);
    if (refers) {
      SKERRY_ASSIGN_OR_RETURN(value, secrets.Read(value.substr(kReference.size()), tenant));
      if (value.find_first_of(std::string_view("\0\n\r", 3)) != std::string::npos)
        return base::Err(base::Code::kInvalidArgument,
                         "the secret for " + name + " has more than one line; an environment variable has one");
    }
    if (refers || secret.contains(name)) resolved.secrets.push_back(value);
  }
  return resolved;
}

}  // namespace skerry::engine
