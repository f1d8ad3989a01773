// Starting a program with posix_spawn, which costs the same however large this process is and is safe with threads.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.hpp"

namespace skerry::os {

// What exec wants: pointers to the texts and a null at the end. The texts must outlive the pointers.
std::vector<char*> Pointers(const std::vector<std::string>& texts);

// What the new process leads: a session of its own, or a process group of its own.
enum class Lead { kSession, kGroup };

// The program starts with no signal blocked or ignored; close-on-exec descriptors that are not placed are gone.
class SpawnPlan {
 public:
  explicit SpawnPlan(Lead lead);
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan();

  // Descriptor `fd` becomes descriptor `at` of the program. Calls take effect in their order: `fd` must not be a number
  // that an earlier call filled.
  void Place(int fd, int at) { ::posix_spawn_file_actions_adddup2(&actions_, fd, at); }
  void PlaceNull(int at);

  // The pid of the new process, a child of this one.
  [[nodiscard]] base::Result<pid_t> Spawn(const std::string& program, const std::vector<std::string>& arguments,
                                          const std::vector<std::string>& environment) const;
  // As above, with this process's own environment.
  [[nodiscard]] base::Result<pid_t> Spawn(const std::string& program, const std::vector<std::string>& arguments) const;

 private:
  [[nodiscard]] base::Result<pid_t> SpawnWith(const std::string& program, const std::vector<std::string>& arguments,
                                              char* const* environment) const;

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace skerry::os
