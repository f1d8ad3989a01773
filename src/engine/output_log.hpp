// OutputLog: what a run wrote, in a file that only grows. What was written survives a kill of this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "core/output_sink.hpp"

namespace skerry::engine {

// A piece of the output. Offsets count the bytes of both streams together, from 0.
struct OutputPiece {
  core::Stream stream = core::Stream::kStdout;
  std::uint64_t offset = 0;
  std::string bytes;

  bool operator==(const OutputPiece&) const = default;
};

struct OutputFile;  // what a log and its readers share

// Reads a log from an offset on, while it may still grow. For one thread at a time. May outlive the log.
class OutputReader {
 public:
  // Up to `limit` bytes, in order, with adjacent pieces of one stream joined; nothing when there is no more now. The
  // reader stops before a piece that a kill of the writer has cut.
  base::Result<std::vector<OutputPiece>> Next(std::size_t limit);
  [[nodiscard]] std::uint64_t offset() const { return offset_; }  // of the next piece

 private:
  friend class OutputLog;
  OutputReader(std::shared_ptr<const OutputFile> file, std::uint64_t offset)
      : file_(std::move(file)), offset_(offset) {}

  std::shared_ptr<const OutputFile> file_;
  std::uint64_t offset_ = 0;
  std::uint64_t position_ = 0;  // in the file: of the frame that has `offset_`, or of one before it
  std::uint64_t passed_ = 0;    // offset of that frame's first byte
};

// Tells whether there is room for bytes that are to be written; both functions may be empty.
struct OutputRoom {
  std::function<bool(std::uint64_t bytes)> take;
  std::function<void(std::uint64_t bytes)> give_back;  // bytes that were taken and could not be written
};

// Thread-safe. The file is made at the first byte.
class OutputLog : public core::OutputSink {
 public:
  // `directory` is borrowed and outlives the log. The file is called `name` and must not exist.
  OutputLog(int directory, std::string name, OutputRoom room = {});
  ~OutputLog() override;

  // Takes everything; when there is no room or the disk is full, lost bytes are counted and the program goes on.
  core::SinkAnswer Write(core::Stream stream, std::string_view bytes, base::Deadline deadline) override;
  [[nodiscard]] std::uint64_t size() const;  // without lost bytes
  [[nodiscard]] std::uint64_t lost() const;
  [[nodiscard]] bool was_refused() const;  // there was no room for some bytes

  // Reads from an offset on; a reader behind the end waits for the log to reach it.
  [[nodiscard]] base::Result<OutputReader> Read(std::uint64_t offset) const;
  // The same for a log whose writer has ended, as it is now. A missing file is an empty log.
  static base::Result<OutputReader> ReadFile(int directory, const std::string& name, std::uint64_t offset);

  // Everything of one stream, at most `limit` bytes.
  static base::Result<std::string> All(OutputReader reader, core::Stream stream, std::size_t limit);

 private:
  // These need the lock. True when the bytes are in the file.
  bool Open();
  bool Append(core::Stream stream, std::string_view piece);
  bool WriteFrame(core::Stream stream, std::string_view piece);
  void CutTo(std::uint64_t end);

  int directory_;
  std::string name_;
  mutable std::mutex mutex_;
  std::shared_ptr<OutputFile> file_;
  std::uint64_t size_ = 0;
  std::uint64_t lost_ = 0;
  OutputRoom room_;
  bool refused_ = false;
  bool broken_ = false;  // half a frame is at the end and stays there: nothing can follow it
};

}  // namespace skerry::engine
