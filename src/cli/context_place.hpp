// Where the keeper of contexts is found: a socket that nobody but its user can reach.
#pragma once

#include <string>

#include "base/deadline.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::cli {

// One for each user and each directory with a skerry in it: $XDG_RUNTIME_DIR/skerry, or ~/.skerry/run.
class KeeperPlace {
 public:
  // Makes the directory where it is missing. One that is somebody else's, or open to others, is refused.
  static base::Result<KeeperPlace> Open();

  // kNotFound when nobody listens.
  [[nodiscard]] base::Result<base::UniqueFd> Connect() const;

  // Held while a keeper is started, and while one leaves.
  [[nodiscard]] base::Result<base::UniqueFd> Lock(base::Deadline deadline) const;
  // Replaces a socket that nobody listens to. Only with the lock.
  [[nodiscard]] base::Result<base::UniqueFd> Listen() const;
  void Remove() const;
  // A number for the socket that is there now, 0 for none; another one is another socket.
  [[nodiscard]] unsigned long Socket() const;

 private:
  base::UniqueFd directory_;
  std::string path_;
  std::string name_;
};

// Whether the process at the other end is one of this user.
bool PeerIsThisUser(int socket);

// Which file this program is, in one word: another build has another one.
std::string ProgramIdentity();

}  // namespace skerry::cli
