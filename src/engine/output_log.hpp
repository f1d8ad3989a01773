// OutputLog: what a run wrote, in a file that only grows. What is in it is there after a kill of this process.
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

// Reads a log from a place on; it may still grow. Of one thread at a time. It outlives its log.
class OutputReader {
 public:
  // Up to `limit` bytes, in order, pieces of one stream that follow each other as one; nothing when there is no more
  // now. A piece that was cut by a kill of its writer is not there, and nothing is behind it.
  base::Result<std::vector<OutputPiece>> Next(std::size_t limit);
  [[nodiscard]] std::uint64_t offset() const { return offset_; }  // of what comes next

 private:
  friend class OutputLog;
  OutputReader(std::shared_ptr<const OutputFile> file, std::uint64_t offset)
      : file_(std::move(file)), offset_(offset) {}

  std::shared_ptr<const OutputFile> file_;
  std::uint64_t offset_ = 0;
  std::uint64_t position_ = 0;  // in the file: of the frame that has `offset_`, or of one before it
  std::uint64_t passed_ = 0;    // offset of that frame's first byte
};

// Who says whether there is room for what is to be written; both may be empty.
struct OutputRoom {
  std::function<bool(std::uint64_t bytes)> take;
  std::function<void(std::uint64_t bytes)> give_back;  // what was taken and could not be written
};

// Thread-safe. The file is made at the first byte.
class OutputLog : public core::OutputSink {
 public:
  // `directory` is borrowed and outlives it. The file is called `name` and must not be there.
  OutputLog(int directory, std::string name, OutputRoom room = {});
  ~OutputLog() override;

  // Takes everything; when there is no room or the disk is full, what is lost is counted and the program goes on.
  core::SinkAnswer Write(core::Stream stream, std::string_view bytes, base::Deadline deadline) override;
  [[nodiscard]] std::uint64_t size() const;  // without what was lost
  [[nodiscard]] std::uint64_t lost() const;
  [[nodiscard]] bool was_refused() const;  // there was no room for some of it

  // From an offset on; one behind the end waits there.
  [[nodiscard]] base::Result<OutputReader> Read(std::uint64_t offset) const;
  // The same for a log whose writer is gone, as it is now. No file is an empty log.
  static base::Result<OutputReader> ReadFile(int directory, const std::string& name, std::uint64_t offset);

  // Everything of one stream, at most `limit` bytes.
  static base::Result<std::string> All(OutputReader reader, core::Stream stream, std::size_t limit);

 private:
  // All of these need the lock. Whether it is in the file.
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
