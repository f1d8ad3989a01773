// What the routes of files share, and the handlers that FileRoutes puts together.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "engine/hosted_session.hpp"
#include "transport/v1/api.hpp"
#include "workspace/agent_workspace.hpp"

namespace skerry::transport::v1 {

inline constexpr std::size_t kLongestPath = 4096;

using FileHandler = base::Result<http::Response>(Api& api, const http::Request& request);

FileHandler ReadContent;    // GET …/content
FileHandler WriteContent;   // PUT …/content
FileHandler AppendContent;  // POST …/append
inline constexpr std::uint64_t kMostAppended = std::uint64_t{64} << 20U;

FileHandler EditFile;
FileHandler MakeDirectory;
FileHandler MoveFile;
FileHandler CopyFile;
FileHandler DeleteFile;

FileHandler SearchFiles;

// The path in the query, which must be there.
base::Result<std::string> PathOf(const http::Request& request);
// The directory in the query; the workspace when it is missing.
std::string DirectoryOf(const http::Request& request, std::string_view name = "path");
// `existing` in the query.
base::Result<workspace::Existing> ExistingOf(const http::Request& request);
workspace::Existing ExistingNamed(std::string_view word);
inline constexpr std::string_view kExistingWords[] = {"replace", "keep"};

// What `look` gives, of the session's files as programs see them now.
template <class Look>
auto ReadFiles(const engine::HostedSession& session, const Look& look)
    -> decltype(look(std::declval<const workspace::AgentWorkspace&>())) {
  std::optional<decltype(look(std::declval<const workspace::AgentWorkspace&>()))> found;
  SKERRY_RETURN_IF_ERROR(session.life().Read([&](const workspace::AgentWorkspace& files) -> base::Status {
    found.emplace(look(files));
    return {};
  }));
  return *std::move(found);
}

// What `act` gives, which changes them.
template <class Act>
auto ChangeFiles(const engine::HostedSession& session, const Act& act)
    -> decltype(act(std::declval<engine::Session&>())) {
  std::optional<decltype(act(std::declval<engine::Session&>()))> done;
  SKERRY_RETURN_IF_ERROR(session.life().Change([&](engine::Session& files) -> base::Status {
    done.emplace(act(files));
    return {};
  }));
  return *std::move(done);
}

}  // namespace skerry::transport::v1
