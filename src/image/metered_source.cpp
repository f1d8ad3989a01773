#include "image/metered_source.hpp"

namespace skerry::image {

base::Result<std::size_t> MeteredSource::Read(std::span<char> buffer) {
  SKERRY_ASSIGN_OR_RETURN(const std::size_t count, inner_.Read(buffer));
  SKERRY_RETURN_IF_ERROR(budget_.TakeBytes(count));
  return count;
}

}  // namespace skerry::image
