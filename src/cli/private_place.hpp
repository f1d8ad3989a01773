// Where the private daemon of this user is found: a socket that nobody but its user can reach.
#pragma once

#include <optional>
#include <string>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::cli {

// What a private daemon was started from.
struct PrivateOrigin {
  std::string program;        // which file it is: another build is another one
  std::string configuration;  // a digest
  bool operator==(const PrivateOrigin&) const = default;
};

// One for each user and each directory with a skerry in it: $XDG_RUNTIME_DIR/skerry, or ~/.skerry/run.
class PrivatePlace {
 public:
  // Makes the directory where it is missing. One that is somebody else's, or open to others, is refused.
  static base::Result<PrivatePlace> Open();

  // kNotFound when nobody listens.
  [[nodiscard]] base::Result<base::UniqueFd> Connect() const;
  // The path of the socket, for as long as this lives.
  [[nodiscard]] std::string SocketPath() const;
  // Where the daemon keeps its record and what else outlives it; nobody makes it here.
  [[nodiscard]] const std::string& state() const { return state_; }

  // Held while a daemon is started, and while one leaves.
  [[nodiscard]] base::Result<base::UniqueFd> Lock(base::Deadline deadline) const;
  // Held by the daemon as long as it lives: the next one waits for its end.
  [[nodiscard]] base::Result<base::UniqueFd> LockLife(base::Deadline deadline) const;

  // The rest that changes something only with the lock. Listen replaces a socket that nobody listens to.
  [[nodiscard]] base::Result<base::UniqueFd> Listen(const PrivateOrigin& origin) const;
  void Remove() const;
  // Nobody finds the socket, until it is shown again.
  void Hide() const;
  void Show() const;
  void RemoveHidden() const;

  // Of the daemon that listens, or did last; empty when nobody has.
  [[nodiscard]] PrivateOrigin Origin() const;
  // A number for the socket that is there now, 0 for none; another one is another socket.
  [[nodiscard]] unsigned long Socket() const;

 private:
  [[nodiscard]] std::string Name(const char* extension) const { return name_ + extension; }

  base::UniqueFd directory_;
  std::string path_;
  std::string name_;
  std::string state_;
};

// Which file this program is, in one word: another build has another one.
std::string ProgramIdentity();

}  // namespace skerry::cli
