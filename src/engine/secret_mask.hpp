// SecretMask: takes the values of secrets out of what a run says. It keeps a program from printing them by accident; a
// program that wants to tell a secret can.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/cell.hpp"
#include "core/output_sink.hpp"

namespace skerry::engine {

class SecretMask {
 public:
  // Values of fewer than four bytes are left alone: they would be found everywhere.
  explicit SecretMask(std::vector<std::string> secrets);

  [[nodiscard]] bool IsEmpty() const { return secrets_.empty(); }
  [[nodiscard]] std::string Masked(std::string_view text) const;
  void Mask(std::vector<core::CellOutput>& outputs) const;
  void Mask(core::CellError& error) const;

  // Takes the masked text out of `text`, and leaves in it what could be the beginning of a secret.
  [[nodiscard]] std::string TakeMasked(std::string& text) const;

 private:
  struct Found {
    std::size_t at = 0;
    std::size_t size = 0;  // 0: there is none, and `at` is the end
  };
  [[nodiscard]] Found FindIn(std::string_view text) const;
  // How many of the last bytes could be the beginning of a secret.
  [[nodiscard]] std::size_t PossibleBeginning(std::string_view text) const;

  std::vector<std::string> secrets_;  // the longest first
};

// Passes masked output on. What could be the beginning of a secret is held back until more comes, or Finish.
class MaskingSink : public core::OutputSink {
 public:
  // Both are borrowed.
  MaskingSink(core::OutputSink& sink, const SecretMask& mask) : sink_(sink), mask_(mask) {}

  core::SinkAnswer Write(core::Stream stream, std::string_view bytes, base::Deadline deadline) override;
  void Drop(std::size_t bytes, base::Deadline deadline) override { sink_.Drop(bytes, deadline); }
  void Finish(base::Deadline deadline);

 private:
  struct Pending {
    std::string held;
    std::string masked;  // what the sink has not taken yet
  };
  [[nodiscard]] Pending& At(core::Stream stream) { return pending_.at(stream == core::Stream::kStdout ? 0 : 1); }
  // False: the sink has not taken all by the deadline.
  bool Send(core::Stream stream, base::Deadline deadline);

  core::OutputSink& sink_;
  const SecretMask& mask_;
  std::array<Pending, 2> pending_;
  bool wants_more_ = true;
};

}  // namespace skerry::engine
