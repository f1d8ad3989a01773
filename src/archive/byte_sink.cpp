#include "archive/byte_sink.hpp"

#include "os/files.hpp"

namespace skerry::archive {

base::Status FileSink::Write(std::string_view bytes) {
  return os::WriteAll(fd_, bytes);
}

base::Status MemorySink::Write(std::string_view bytes) {
  bytes_ += bytes;
  return {};
}

}  // namespace skerry::archive
