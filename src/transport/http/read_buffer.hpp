// ReadBuffer: bytes that were read and not yet used. Small while it is empty.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace skerry::transport::http {

class ReadBuffer {
 public:
  [[nodiscard]] std::string_view view() const { return {bytes_.data() + begin_, end_ - begin_}; }
  [[nodiscard]] bool empty() const { return begin_ == end_; }

  // Room for `size` more; valid until the next call.
  std::span<char> Prepare(std::size_t size) {
    if (begin_ > 0) std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (bytes_.size() < end_ + size) bytes_.resize(end_ + size);
    return std::span(bytes_).subspan(end_);
  }
  void Commit(std::size_t size) { end_ += size; }
  void Consume(std::size_t size) {
    begin_ += size;
    if (empty()) begin_ = end_ = 0;
  }
  // Releases the memory that a large request needed.
  void ShrinkTo(std::size_t size) {
    if (empty() && bytes_.size() > size) std::vector<char>().swap(bytes_);
  }

 private:
  std::vector<char> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace skerry::transport::http
