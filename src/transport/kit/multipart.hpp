// MultipartReader: a body of multipart/form-data (RFC 7578), part by part, without holding more than a piece of it.
//
// Strict: nothing before the first part and nothing behind the last, one way to write where a part ends, one
// Content-Disposition for each part, no encodings. A body that two readers could understand in two ways is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "transport/http/dialect.hpp"

namespace skerry::transport::kit {

struct MultipartLimits {
  std::size_t parts = 256;
  std::size_t header_bytes = std::size_t{8} << 10U;                      // of one part
  std::uint64_t part_bytes = std::numeric_limits<std::uint64_t>::max();  // content of one part
};

struct FormPart {
  std::string name;
  // For a part that is a file: the last component of the name that was sent. No directories, never "." or ".."; may be
  // "".
  std::optional<std::string> file_name;
  // The whole name that was sent for the file: UTF-8 without control characters, and otherwise anything, also a path.
  std::string sent_name;
  std::string type;  // Content-Type as it came; "" for none
};

// An error is final: every later call gives it again. kInvalidArgument: the body is no form. kTooLarge: more than the
// limits allow.
class MultipartReader {
 public:
  // `request` is borrowed. Its body is read from the beginning, and not changed.
  static base::Result<MultipartReader> Open(const http::Request& request, const MultipartLimits& limits = {});

  // The next part; nothing behind the last one. The unread rest of the previous part is skipped.
  base::Result<std::optional<FormPart>> Next();
  // A piece of this part's content, valid until the next call; "" at its end.
  base::Result<std::string_view> Read();
  // All that is left of this part's content. kTooLarge when that is more than `most` bytes.
  base::Result<std::string> ReadAll(std::size_t most);

 private:
  enum class Place { kBegin, kContent, kBetween, kEnd };
  MultipartReader(const http::Body& body, const std::string& boundary, const MultipartLimits& limits);

  // The bytes that are in memory and not consumed.
  [[nodiscard]] std::string_view window() const {
    return (from_file_ ? std::string_view(buffer_) : memory_).substr(at_);
  }
  [[nodiscard]] bool IsRead() const { return !from_file_ || file_offset_ >= file_size_; }
  // Reads more of the file into the window.
  base::Status Fill();
  // Reads until the window has at least so many bytes, or all that are left.
  base::Status Have(std::size_t bytes);
  // Consumes `text` if it comes next.
  base::Result<bool> Skip(std::string_view text);
  base::Result<std::optional<FormPart>> TakePart();
  base::Result<FormPart> TakeHead();
  base::Result<std::string_view> TakePiece();

  MultipartLimits limits_;
  std::string delimiter_;  // with the line end before it
  bool from_file_ = false;
  std::string_view memory_;  // the whole body
  std::string buffer_;       // a piece of the file
  std::size_t at_ = 0;       // how much of `memory_` or `buffer_` is consumed
  int file_ = -1;            // borrowed
  std::uint64_t file_offset_ = 0;
  std::uint64_t file_size_ = 0;
  Place place_ = Place::kBegin;
  std::size_t parts_ = 0;
  std::uint64_t part_read_ = 0;
  std::optional<base::Error> failure_;
};

}  // namespace skerry::transport::kit
