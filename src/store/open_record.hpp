// Opening the file that all stores share.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "store/database.hpp"

namespace skerry::store {

struct OpenOptions {
  std::chrono::milliseconds busy_timeout{5000};  // how long a method waits for other connections
};

// Makes the file if it is not there: for its owner only, in a directory that is there (store/record_file.hpp says what
// is refused). Brings an older file to the present schema. From then on errors do not say where the file is: they reach
// clients that must not know. Beside the file lie FILE-wal and FILE-shm, which belong to it.
base::Result<std::unique_ptr<Database>> OpenRecord(const std::string& path, const OpenOptions& options);

}  // namespace skerry::store
