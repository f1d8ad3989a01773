// What the sockets of a network namespace hold back in the kernel, for machines where no cgroup counts it.
#pragma once

#include <cstdint>

namespace skerry::os {

// A socket to ask with, of the network namespace that this process is in. After clone: no allocation; -1 and errno.
int OpenSocketDiagnosis();

// The kernel's count of that namespace's sockets, open. After clone: no allocation; -1 and errno. Needs /proc.
int OpenSocketCount();

// How many sockets of any kind there are. Cheap, where SocketMemory goes through all tables of the machine; 0 where the
// kernel cannot tell.
std::uint64_t SocketsInUse(int count);

// Bytes in the buffers of all unix, TCP and UDP sockets of that namespace; 0 where the kernel cannot tell.
std::uint64_t SocketMemory(int diagnosis);

}  // namespace skerry::os
