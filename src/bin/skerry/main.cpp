// skerry: wires the parts of the program; no other file does.
#include <fcntl.h>
#include <unistd.h>

#include <memory>

#include "bin/skerry/backends.hpp"
#include "cli/app.hpp"
#include "store/sqlite_record_store.hpp"
#include "store/sqlite_service_store.hpp"

namespace {

using namespace skerry;

base::Result<std::unique_ptr<core::RecordStore>> OpenStore(const std::string& path) {
  return store::SqliteRecordStore::Open(path, {});
}

base::Result<std::unique_ptr<core::ServiceStore>> OpenServiceStore(const std::string& path) {
  return store::SqliteServiceStore::Open(path, {});
}

// If one of the descriptors 0 to 2 were closed, the next file that is opened would get it, and a program's output would
// be written into that file.
void FillStandardDescriptors() {
  while (true) {
    const int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd > STDERR_FILENO) ::close(fd);
    if (fd < 0 || fd >= STDERR_FILENO) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  FillStandardDescriptors();
  return cli::RunApp(argc, argv,
                     {.backend_names = bin::BackendNames(),
                      .make_backends = bin::MakeBackends,
                      .open_store = OpenStore,
                      .open_service_store = OpenServiceStore});
}
