// Paths as a command of the shell names them, as far as they are known.
#pragma once

#include <string>
#include <string_view>

namespace skerry::policy {

// In a value: a part that is not known, and what stands for the person's home.
inline constexpr char kShellHole = '\x01';
inline constexpr char kShellHome = '\x04';

// The path without `.`, `..`, and double slashes, and with `directory` in front where it does not begin at the root or
// the home. A last part that stands for everything in its directory (`*`) is left away, unless `path` is only that.
std::string PlainPath(std::string_view path, std::string_view directory);

// A plain path whose loss the system or the person does not get over: the root, the home, what is directly in them, and
// the system's trees. Not what is in /tmp or in the workspace.
bool IsSystemTree(std::string_view plain_path);

// The root, the home, or a whole tree of the root.
bool IsWholeTree(std::string_view plain_path);

// A plain path that is a device which can be harmed by writing to it.
bool IsDevice(std::string_view plain_path);
// A plain path that the shell takes for a connection.
bool IsSocket(std::string_view plain_path);

// The names of the standard input.
bool IsStandardInput(std::string_view path);

// "rm" of "/bin/rm".
std::string_view BaseName(std::string_view path);

}  // namespace skerry::policy
