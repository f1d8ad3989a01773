// ArchiveSpool: an archive for a client, in a file without a name.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "archive/byte_sink.hpp"
#include "base/budget.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace skerry::engine {

// Zeros are left out of the file as holes: a file of nothing but holes, which costs a session nothing, must not fill
// the disk of the host.
class ArchiveSpool : public archive::ByteSink {
 public:
  // Makes the file in `directory`, whose budget `share` counts it against. Write fails as soon as `gone` says that the
  // client has disconnected.
  static base::Result<ArchiveSpool> Make(const std::string& directory, std::stop_token gone,
                                         base::BudgetShare share = {});
  ArchiveSpool(base::UniqueFd file, std::stop_token gone, base::BudgetShare share)
      : file_(std::move(file)), gone_(std::move(gone)), share_(std::move(share)) {}
  ArchiveSpool(ArchiveSpool&& other) noexcept
      : file_(std::move(other.file_)),
        gone_(std::move(other.gone_)),
        share_(std::move(other.share_)),
        size_(other.size_) {}

  base::Status Write(std::string_view bytes) override;

  struct Whole {
    base::UniqueFd file;
    std::uint64_t size = 0;
    base::BudgetShare share;
  };
  // The file with everything that was written.
  base::Result<Whole> Finish() &&;

 private:
  base::UniqueFd file_;
  std::stop_token gone_;
  base::BudgetShare share_;
  std::uint64_t size_ = 0;
};

}  // namespace skerry::engine
