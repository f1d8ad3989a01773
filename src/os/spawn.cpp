#include "os/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "os/errno_error.hpp"

namespace skerry::os {

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

SpawnPlan::SpawnPlan(Lead lead) {
  ::posix_spawn_file_actions_init(&actions_);
  ::posix_spawnattr_init(&attributes_);
  sigset_t none;
  ::sigemptyset(&none);
  sigset_t all;
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes_, &none);
  ::posix_spawnattr_setsigdefault(&attributes_, &all);
  ::posix_spawnattr_setpgroup(&attributes_, 0);
  const int leading = lead == Lead::kSession ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
  ::posix_spawnattr_setflags(&attributes_,
                             static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | leading));
}

SpawnPlan::~SpawnPlan() {
  ::posix_spawn_file_actions_destroy(&actions_);
  ::posix_spawnattr_destroy(&attributes_);
}

void SpawnPlan::PlaceNull(int at) {
  ::posix_spawn_file_actions_addopen(&actions_, at, "/dev/null", O_RDWR, 0);
}

base::Result<pid_t> SpawnPlan::SpawnWith(const std::string& program, const std::vector<std::string>& arguments,
                                         char* const* environment) const {
  const std::vector<char*> pointers = Pointers(arguments);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, pointers.data(), environment);
  if (error != 0) return ErrnoErr("start " + program, error);
  return pid;
}

base::Result<pid_t> SpawnPlan::Spawn(const std::string& program, const std::vector<std::string>& arguments,
                                     const std::vector<std::string>& environment) const {
  return SpawnWith(program, arguments, Pointers(environment).data());
}

base::Result<pid_t> SpawnPlan::Spawn(const std::string& program, const std::vector<std::string>& arguments) const {
  return SpawnWith(program, arguments, ::environ);
}

}  // namespace skerry::os
