// Machine: one sandbox of the remote fake's server: files in memory, programs, contexts.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backends/fake/tiny_process.hpp"
#include "backends/fake/tiny_shell.hpp"
#include "base/byte_source.hpp"
#include "base/result.hpp"
#include "core/process.hpp"
#include "core/sandbox_files.hpp"

namespace skerry::backends::remote_fake {

// Thread-safe.
class MemoryFiles : public fake::TinyFiles {
 public:
  std::optional<std::string> Read(const std::string& path) override;
  bool Write(const std::string& path, std::string_view text, How how) override;
  bool MakeDirectory(const std::string& path) override;
  bool Remove(const std::string& path) override;
  std::vector<std::string> Names() override;

  [[nodiscard]] core::FileMark Mark() const;
  base::Status Import(base::ByteSource& tar);
  [[nodiscard]] base::Result<std::string> Export(std::span<const std::string> paths) const;

 private:
  struct Node {
    core::FileState::Kind kind = core::FileState::Kind::kFile;
    std::string content;  // of a file, or where a link leads
    std::uint32_t mode = 0644;
    std::uint64_t version = 0;
  };
  [[nodiscard]] bool HasParent(const std::string& path) const;
  void Put(const std::string& path, Node node);

  mutable std::mutex mutex_;
  std::map<std::string, Node> nodes_;
  std::uint64_t versions_ = 0;
};

// A program that runs on the machine, whether or not a client polls it. Thread-safe.
class Program {
 public:
  Program(MemoryFiles& files, core::Command command);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  fake::TinyInput& input() { return input_; }
  void Kill() { thread_.request_stop(); }
  [[nodiscard]] bool IsOver();

  struct Piece {
    core::Stream stream;
    std::string bytes;
  };
  struct Heard {
    std::vector<Piece> pieces;
    std::optional<base::Result<core::Outcome>> end;
  };
  // What the program wrote since the last call, and its end; waits for either.
  Heard Poll(std::chrono::milliseconds longest);

 private:
  void Run(const std::stop_token& stop, MemoryFiles& files);
  std::optional<std::string> ReadInput(const std::stop_token& stop);

  core::Command command_;
  fake::TinyInput input_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Piece> pieces_;
  std::optional<base::Result<core::Outcome>> end_;
  std::jthread thread_;
};

class Machine {
 public:
  explicit Machine(std::string id) : id_(std::move(id)) {}

  [[nodiscard]] const std::string& id() const { return id_; }
  MemoryFiles& files() { return files_; }
  [[nodiscard]] bool alive() const { return alive_; }
  // Ends every program of the machine, for good.
  void End();

  base::Result<std::shared_ptr<Program>> Launch(core::Command command);
  [[nodiscard]] std::size_t CountPrograms();

 private:
  const std::string id_;
  MemoryFiles files_;
  void LiveFor(std::chrono::milliseconds lifetime);

  std::atomic<bool> alive_ = true;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Program>> programs_;
  std::jthread lifetime_;  // ends the machine when the lifetime of the last command is over
};

}  // namespace skerry::backends::remote_fake
