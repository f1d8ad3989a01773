// What the sockets of a network namespace hold back in the kernel, for machines where no cgroup counts it.
#pragma once

#include <cstdint>

namespace skerry::os {

// A socket by which SocketMemory asks, in the network namespace of this process. After clone: no allocation; -1 and
// errno.
int OpenSocketDiagnosis();

// The kernel's count of the sockets of this process's network namespace, open. After clone: no allocation; -1 and
// errno. Needs /proc.
int OpenSocketCount();

// The number of sockets of any kind, from what OpenSocketCount gave; 0 where the kernel cannot tell. Cheap, while
// SocketMemory goes through all tables of the machine.
std::uint64_t SocketsInUse(int count);

// Bytes in the buffers of all unix, TCP and UDP sockets of the namespace that OpenSocketDiagnosis was called in; 0
// where the kernel cannot tell.
std::uint64_t SocketMemory(int diagnosis);

}  // namespace skerry::os
