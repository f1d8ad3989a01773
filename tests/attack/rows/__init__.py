"""The table of attacks, one file for each part of the catalogue. Importing this fills model.TABLE."""

import model
from rows import daemon, files, ipc, machine, memory, mounts, network, peers, planted, planted_git, proc  # noqa: F401
from rows import processes, resources, shared, sockets, syscalls, terminals  # noqa: F401

model.TABLE.sort(key=lambda row: row.id)
