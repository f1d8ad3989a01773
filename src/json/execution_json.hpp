// The JSON form of a result, with the names of SPEC S1.2. One form for the command line and for every protocol.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "core/execution.hpp"

namespace skerry::json {

// How long a list of files may be: so many names, and about so many bytes of names.
struct ListBounds {
  std::size_t names = std::numeric_limits<std::size_t>::max();
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
};
// The bounds for results that the daemon keeps.
inline constexpr ListBounds kKeptLists{.names = 1000, .bytes = std::size_t{128} << 10U};

// One line, valid JSON whatever the program wrote: bytes that are no UTF-8 become U+FFFD, and then the exact bytes are
// in `stdout_base64` or `stderr_base64`. Where a list of files does not have all of them, `files_total` says how many
// there are.
std::string ToJson(const core::ExecutionResult& result, const ListBounds& lists = {});

// The same shape for a run that could not begin: success false, the error's message and exit code.
std::string ToJson(const base::Error& error);

// The short form of a result, or of a cell's result, for lists: without what the program wrote, with the first names of
// each list of files, without a cell's outputs (`outputs_total` says how many there are), long texts cut.
std::string SummaryOf(std::string_view result);

std::string Base64(std::string_view bytes);

}  // namespace skerry::json
