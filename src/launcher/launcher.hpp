// The launcher: a small, single-threaded program that makes one sandbox for the process that started it.
//
// It guarantees:
//  - It forks while it has one thread, little memory and no secrets; a threaded server never has to.
//  - It starts nothing unless every step of the set-up succeeded; the first failure is reported by its name.
//  - Host uid 0 is never mapped into a sandbox.
//  - When the process that started it goes away, however it goes, the sandbox is killed and its cgroup removed.
//  - When it is asked to end (SIGTERM and its kin) it takes the sandbox down in order.
//  - When it is itself killed, the sandbox dies with it (PR_SET_PDEATHSIG on the first process of the pid namespace),
//    and the next launcher removes the cgroup that is left.
//  - When the sandbox's lifetime is over it is killed, whatever its client is doing.
//  - Ended is sent only when no process of the sandbox is left, and says so.
#pragma once

namespace skerry::launcher {

// Serves the connected socket until the sandbox has ended. `init_program` is an open skerry-init. Returns the exit
// code.
int Serve(int client, int init_program);

}  // namespace skerry::launcher
