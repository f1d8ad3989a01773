// Compression as gzip does it.
#pragma once

#include <zlib.h>

#include <memory>
#include <string_view>
#include <vector>

#include "archive/byte_sink.hpp"
#include "base/result.hpp"

namespace skerry::archive {

// Compresses what is written and passes it on to another sink, which is borrowed.
class GzipSink : public ByteSink {
 public:
  static base::Result<std::unique_ptr<GzipSink>> Open(ByteSink& inner);
  ~GzipSink() override;

  base::Status Write(std::string_view bytes) override;
  // Writes the bytes that are still held back, and the checksum. Called once, after the last Write; without it the
  // stream is cut off.
  base::Status Finish();

 private:
  explicit GzipSink(ByteSink& inner);
  base::Status Drain(int flush);

  ByteSink& inner_;
  z_stream stream_{};
  std::vector<char> out_;
};

}  // namespace skerry::archive
