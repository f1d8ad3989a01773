#include "launcher/lifeline.hpp"

#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "os/errno_error.hpp"
#include "os/pipe.hpp"

namespace skerry::launcher {
namespace {

// From here on this thread has no descriptor but that one, and shares it with no other thread.
int KeepOnly(int fd) {
  const auto number = static_cast<unsigned>(fd);
  if (::syscall(SYS_close_range, number + 1, ~0U, CLOSE_RANGE_UNSHARE) < 0) return errno;
  return number != 0 && ::syscall(SYS_close_range, 0U, number - 1, 0U) < 0 ? errno : 0;
}

}  // namespace

base::Result<std::shared_ptr<const Lifeline>> Lifeline::Begin() {
  SKERRY_ASSIGN_OR_RETURN(os::Pipe pipe, os::Pipe::Create());
  std::shared_ptr<Lifeline> lifeline(new Lifeline(std::move(pipe.read_end)));
  try {
    lifeline->thread_ = std::thread(&Lifeline::Hold, lifeline.get(), pipe.write_end.get());
  } catch (const std::system_error& thrown) {
    return base::Err(base::Code::kUnavailable, std::string("start a thread: ") + thrown.what());
  }
  lifeline->settled_.acquire();
  if (lifeline->error_ != 0) return os::ErrnoErr("descriptors for one thread", lifeline->error_);
  return lifeline;
}

void Lifeline::Hold(int other_end) {
  // Signals to the process are for threads that answer them.
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_NAME, "lifeline");
  error_ = KeepOnly(other_end);
  settled_.release();
  over_.acquire();
  ::close(other_end);  // who joins a thread does not wait for its descriptors
}

Lifeline::~Lifeline() {
  over_.release();
  if (thread_.joinable()) thread_.join();
}

}  // namespace skerry::launcher
