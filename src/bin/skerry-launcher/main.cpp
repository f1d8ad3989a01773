// skerry-launcher: started by a backend, with its client at descriptor 3 and an open skerry-init at 4. Not for people.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <initializer_list>

#include "launcher/launcher.hpp"

int main() {
  constexpr int kClient = 3;
  constexpr int kInit = 4;
  for (const int fd : {kClient, kInit}) {
    if (::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0) continue;
    constexpr char kText[] = "skerry-launcher is started by skerry; run `skerry --help`\n";
    (void)!::write(STDERR_FILENO, kText, sizeof kText - 1);
    return 125;
  }
  // Closes all other descriptors that the starting process had open without close-on-exec.
  (void)::syscall(SYS_close_range, kInit + 1U, ~0U, 0U);
  return skerry::launcher::Serve(kClient, kInit);
}
