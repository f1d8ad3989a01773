// The launcher: a small, single-threaded program that makes sandboxes for the process that started it.
//
// It guarantees:
//  - It forks while it has one thread, little memory and no secrets; a threaded server never has to.
//  - It starts nothing unless every step of the set-up succeeded; the first failure is reported by its name.
//  - It never waits for one sandbox while another wants something.
//  - Host uid 0 is never mapped into a sandbox.
//  - When the socket of a sandbox closes, that sandbox is killed and its cgroup removed. When the process that started
//    the launcher goes away, however it goes, that happens to all of them; with a lifeline as soon as that process is
//    killed, although its sockets close only with its last thread.
//  - When it is asked to end (SIGTERM and its kin) it takes the sandboxes down in order.
//  - When it is itself killed, the sandboxes die with it (PR_SET_PDEATHSIG on the first process of each pid namespace),
//    their clients see their sockets close, and the next launcher removes the cgroups that are left. An init without a
//    pid namespace is told of it, kills what it started, and ends.
//  - When a sandbox's lifetime is over it is killed, whatever its client is doing.
//  - Ended is sent only when no process of the sandbox is left, and says so.
#pragma once

namespace skerry::launcher {

// Serves the connected socket until it closes and every sandbox has ended. `init_program` is an open skerry-init.
// Returns the exit code.
int Serve(int clients, int init_program);

}  // namespace skerry::launcher
