// gzip and zstd, told by the first bytes and never by a file's name.
#pragma once

#include <memory>

#include "archive/byte_source.hpp"

namespace skerry::archive {

// A source of what `compressed` holds, or of its bytes as they are when they are not compressed. `compressed` is
// borrowed.
//
// Several gzip members or zstd frames in a row are one stream; anything else after the end is an error, and so is an
// end that comes too early. Reading to the end reads `compressed` to its end. A stream that gives more than 1000 bytes
// for each byte of `compressed`, and more than 100 MB, is taken for a bomb (kTooLarge). Memory stays below 130 MB,
// which is zstd's largest window. A compression that is not read here (xz, bzip2, zip) is named in the error.
base::Result<std::unique_ptr<ByteSource>> OpenDecompressed(ByteSource& compressed);

}  // namespace skerry::archive
