// Helpers of the file routes, and the handlers that FileRoutes puts together.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "engine/views/upload.hpp"
#include "transport/v1/api.hpp"
#include "workspace/agent_workspace.hpp"

namespace skerry::transport::v1 {

inline constexpr std::size_t kLongestPath = 4096;

using FileHandler = base::Result<http::Response>(Api& api, const http::Request& request);

FileHandler ReadContent;    // GET …/content
FileHandler WriteContent;   // PUT …/content
FileHandler AppendContent;  // POST …/append

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

// The request's body.
engine::Upload UploadOf(const http::Request& request);

}  // namespace skerry::transport::v1
