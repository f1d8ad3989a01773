#include "archive/decompressor.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace skerry::archive {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kInputBytes = std::size_t{128} << 10U;
constexpr std::size_t kMagicBytes = 6;
constexpr std::uint64_t kBombBytes = 100'000'000;
constexpr std::uint64_t kBombRatio = 1000;

std::unexpected<base::Error> Damaged(const std::string& what) {
  return base::Err(base::Code::kInvalidArgument, "the archive is damaged: " + what);
}

// Lets a reader look at the first bytes of a stream without taking them.
class PeekedSource : public ByteSource {
 public:
  explicit PeekedSource(ByteSource& inner) : inner_(inner) {}

  base::Status Peek() {
    SKERRY_ASSIGN_OR_RETURN(const std::size_t count, ReadFull(inner_, bytes_));
    peeked_ = {bytes_.data(), count};
    return {};
  }
  [[nodiscard]] std::string_view peeked() const { return peeked_; }

  base::Result<std::size_t> Read(std::span<char> buffer) override {
    if (peeked_.empty()) return inner_.Read(buffer);
    const std::size_t count = std::min(buffer.size(), peeked_.size());
    std::copy_n(peeked_.begin(), count, buffer.begin());
    peeked_.remove_prefix(count);
    return count;
  }

 private:
  ByteSource& inner_;
  std::array<char, kMagicBytes> bytes_{};
  std::string_view peeked_;
};

// The common part of both formats: the input buffer and the guard against bombs.
class DecompressingSource : public ByteSource {
 public:
  explicit DecompressingSource(std::unique_ptr<PeekedSource> input) : input_(std::move(input)), buffer_(kInputBytes) {}

  base::Result<std::size_t> Read(std::span<char> buffer) override {
    SKERRY_ASSIGN_OR_RETURN(const std::size_t count, Decompress(buffer));
    out_ += count;
    if (out_ > kBombBytes && out_ / kBombRatio > in_)
      return base::Err(base::Code::kTooLarge,
                       "the archive unpacks to more than a thousand times its size, which looks like a bomb; "
                       "decompress it yourself if it is not");
    return count;
  }

 protected:
  virtual base::Result<std::size_t> Decompress(std::span<char> buffer) = 0;

  // More input, or an empty view at the end. The view lives until the next call.
  base::Result<std::string_view> NextInput() {
    SKERRY_ASSIGN_OR_RETURN(const std::size_t count, input_->Read(buffer_));
    in_ += count;
    return std::string_view(buffer_.data(), count);
  }

 private:
  std::unique_ptr<PeekedSource> input_;
  std::vector<char> buffer_;
  std::uint64_t in_ = 0;
  std::uint64_t out_ = 0;
};

class GzipSource : public DecompressingSource {
 public:
  using DecompressingSource::DecompressingSource;
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { ::inflateEnd(&stream_); }

  base::Status Start() {
    constexpr int kGzipOnly = 15 + 16;
    if (::inflateInit2(&stream_, kGzipOnly) != Z_OK) return base::Err(base::Code::kInternal, "cannot start zlib");
    return {};
  }

 private:
  base::Result<std::size_t> Decompress(std::span<char> buffer) override {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(buffer.size(), kInputBytes));
    const uInt room = stream_.avail_out;
    while (stream_.avail_out == room) {
      if (stream_.avail_in == 0) {
        SKERRY_ASSIGN_OR_RETURN(const std::string_view input, NextInput());
        if (input.empty() && member_ended_) return 0;
        if (input.empty()) return Damaged("its gzip stream is cut off");
        // zlib only reads from there; its interface lacks const.
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));  // NOLINT
        stream_.avail_in = static_cast<uInt>(input.size());
      }
      SKERRY_RETURN_IF_ERROR(Inflate());
    }
    return room - stream_.avail_out;
  }

  base::Status Inflate() {
    if (member_ended_) ::inflateReset(&stream_);
    const bool first = stream_.total_in == 0 && member_ended_;
    const int answer = ::inflate(&stream_, Z_NO_FLUSH);
    member_ended_ = answer == Z_STREAM_END;
    if (answer == Z_OK || answer == Z_STREAM_END || answer == Z_BUF_ERROR) return {};
    if (answer == Z_MEM_ERROR) return base::Err(base::Code::kUnavailable, "no memory to decompress");
    if (first) return Damaged("there is something else after the end of its gzip stream");
    return Damaged(std::string("gzip: ") + (stream_.msg == nullptr ? "wrong data" : stream_.msg));
  }

  z_stream stream_{};
  bool member_ended_ = false;
};

class ZstdSource : public DecompressingSource {
 public:
  explicit ZstdSource(std::unique_ptr<PeekedSource> input)
      : DecompressingSource(std::move(input)), stream_(::ZSTD_createDStream()) {}
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;
  ~ZstdSource() override { ::ZSTD_freeDStream(stream_); }

  [[nodiscard]] base::Status Start() const {
    if (stream_ == nullptr || ::ZSTD_isError(::ZSTD_initDStream(stream_)) != 0)
      return base::Err(base::Code::kInternal, "cannot start zstd");
    return {};
  }

 private:
  base::Result<std::size_t> Decompress(std::span<char> buffer) override {
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    while (out.pos == 0) {
      // A full window is given out before more is read.
      if (input_.pos == input_.size && !more_to_flush_) {
        SKERRY_ASSIGN_OR_RETURN(const std::string_view input, NextInput());
        if (input.empty() && frame_ended_) return 0;
        if (input.empty()) return Damaged("its zstd stream is cut off");
        input_ = {input.data(), input.size(), 0};
      }
      const std::size_t answer = ::ZSTD_decompressStream(stream_, &out, &input_);
      if (::ZSTD_isError(answer) != 0) return Damaged(std::string("zstd: ") + ::ZSTD_getErrorName(answer));
      frame_ended_ = answer == 0;
      more_to_flush_ = out.pos == out.size && !frame_ended_;
    }
    return out.pos;
  }

  ZSTD_DStream* stream_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  bool frame_ended_ = false;
  bool more_to_flush_ = false;
};

struct Unread {
  std::string_view magic;
  std::string_view name;
  std::string_view advice;
};

constexpr std::array kUnread = {
    Unread{"\xFD"
           "7zXZ\0"sv,
           "xz", "decompress it first: xz -d FILE"},
    Unread{"BZh"sv, "bzip2", "decompress it first: bzip2 -d FILE"},
    Unread{"PK\x03\x04"sv, "a zip archive", "make a tar archive of what is in it"},
    Unread{"hsqs"sv, "a squashfs image", "unpack it with unsquashfs and make a tar archive of it"},
};

template <class Source>
base::Result<std::unique_ptr<ByteSource>> Start(std::unique_ptr<PeekedSource> input) {
  auto source = std::make_unique<Source>(std::move(input));
  SKERRY_RETURN_IF_ERROR(source->Start());
  return source;
}

}  // namespace

base::Result<std::unique_ptr<ByteSource>> OpenDecompressed(ByteSource& compressed) {
  auto input = std::make_unique<PeekedSource>(compressed);
  SKERRY_RETURN_IF_ERROR(input->Peek());
  const std::string_view magic = input->peeked();
  if (magic.starts_with("\x1F\x8B"sv)) return Start<GzipSource>(std::move(input));
  if (magic.starts_with("\x28\xB5\x2F\xFD"sv)) return Start<ZstdSource>(std::move(input));
  for (const Unread& other : kUnread)
    if (magic.starts_with(other.magic))
      return base::Err(base::Code::kInvalidArgument, "this is " + std::string(other.name) +
                                                         ", which is not read here (tar, gzip and zstd are); " +
                                                         std::string(other.advice));
  return input;
}

}  // namespace skerry::archive
