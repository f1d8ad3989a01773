// Where the private daemon of this user is found: a socket that only this user can reach.
#pragma once

#include <optional>
#include <string>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::cli {

// Connections that wait at the socket until the daemon accepts them.
inline constexpr int kPrivateBacklog = 512;

// What a private daemon was started from.
struct PrivateOrigin {
  std::string program;        // identity of the file; another build has another one
  std::string configuration;  // a digest
  bool operator==(const PrivateOrigin&) const = default;
};

// One place for each user and each directory with a skerry in it: $XDG_RUNTIME_DIR/skerry, or ~/.skerry/run.
class PrivatePlace {
 public:
  // Makes the directory where it is missing. Refuses a directory of another user, or one that is open to others.
  static base::Result<PrivatePlace> Open();

  // kNotFound when no daemon listens.
  [[nodiscard]] base::Result<base::UniqueFd> Connect() const;
  // The path of the socket, for as long as this lives.
  [[nodiscard]] std::string SocketPath() const;
  // Where the daemon keeps its record and other lasting files; not made here.
  [[nodiscard]] const std::string& state() const { return state_; }

  // Held while a daemon is started, and while one leaves.
  [[nodiscard]] base::Result<base::UniqueFd> Lock(base::Deadline deadline) const;
  // Held by the daemon as long as it lives: the next daemon waits for its end.
  [[nodiscard]] base::Result<base::UniqueFd> LockLife(base::Deadline deadline) const;

  // Those of the rest that change something need the lock. Listen replaces a socket that no daemon listens on.
  [[nodiscard]] base::Result<base::UniqueFd> Listen(const PrivateOrigin& origin) const;
  void Remove() const;
  // Clients do not find the socket until Show.
  void Hide() const;
  void Show() const;
  void RemoveHidden() const;

  // The origin of the daemon that listens, or did last; empty when there was none.
  [[nodiscard]] PrivateOrigin Origin() const;
  // A number for the present socket, 0 for none; another socket has another number.
  [[nodiscard]] unsigned long Socket() const;

 private:
  [[nodiscard]] std::string Name(const char* extension) const { return name_ + extension; }

  base::UniqueFd directory_;
  std::string path_;
  std::string name_;
  std::string state_;
};

// The identity of this program's file, in one word: another build has another one.
std::string ProgramIdentity();

}  // namespace skerry::cli
