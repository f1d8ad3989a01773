// What one shell command passes to the next, as far as that is known without running anything.
#pragma once

#include <string>
#include <string_view>

#include "policy/shell_arguments.hpp"

namespace skerry::policy {

// In a value, besides kShellHole: what came from the network, and what was decoded.
inline constexpr char kShellNetwork = '\x02';
inline constexpr char kShellDecoded = '\x03';
// Behind "/dev/fd/": the rest is what can be read there.
inline constexpr char kShellInline = '\x0e';

struct ShellFlow {
  enum class Kind : std::uint8_t {
    kNone,     // nothing is connected
    kText,     // this text
    kFile,     // the content of the file that `text` names
    kUnknown,  // what another command makes
    kDecoded,  // what was made unreadable before
    kNetwork,  // what another machine sends
  };
  Kind kind = Kind::kNone;
  std::string text;
};

// What the command writes when it reads `input`.
ShellFlow OutputOf(ShellArgv argv, const ShellFlow& input);

// Both flows, one after the other.
ShellFlow Concatenated(ShellFlow first, ShellFlow second);

// `\n`, `\x41`, `\101`, `\u0041` and the like as what they stand for.
std::string DecodeEscapes(std::string_view text);

}  // namespace skerry::policy
