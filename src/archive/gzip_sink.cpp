#include "archive/gzip_sink.hpp"

#include <algorithm>
#include <limits>

namespace skerry::archive {
namespace {

constexpr std::size_t kOutputBytes = std::size_t{64} << 10U;

}  // namespace

GzipSink::GzipSink(ByteSink& inner) : inner_(inner), out_(kOutputBytes) {}

GzipSink::~GzipSink() {
  ::deflateEnd(&stream_);
}

base::Result<std::unique_ptr<GzipSink>> GzipSink::Open(ByteSink& inner) {
  constexpr int kGzip = 15 + 16;
  constexpr int kMemoryLevel = 8;
  std::unique_ptr<GzipSink> sink(new GzipSink(inner));
  if (::deflateInit2(&sink->stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return base::Err(base::Code::kUnavailable, "cannot start zlib");
  return sink;
}

base::Status GzipSink::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, std::numeric_limits<uInt>::max());
    bytes.remove_prefix(part.size());
    // zlib only reads from there; its interface lacks const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));  // NOLINT
    stream_.avail_in = static_cast<uInt>(part.size());
    SKERRY_RETURN_IF_ERROR(Drain(Z_NO_FLUSH));
  }
  return {};
}

base::Status GzipSink::Finish() {
  stream_.avail_in = 0;
  return Drain(Z_FINISH);
}

base::Status GzipSink::Drain(int flush) {
  do {
    stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
    stream_.avail_out = static_cast<uInt>(out_.size());
    if (::deflate(&stream_, flush) == Z_STREAM_ERROR) return base::Err(base::Code::kInternal, "zlib: wrong state");
    const std::size_t count = out_.size() - stream_.avail_out;
    if (count > 0) SKERRY_RETURN_IF_ERROR(inner_.Write({out_.data(), count}));
  } while (stream_.avail_out == 0);
  return {};
}

}  // namespace skerry::archive
