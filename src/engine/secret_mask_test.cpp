#include "engine/secret_mask.hpp"

#include <gtest/gtest.h>

namespace skerry::engine {
namespace {

using core::Stream;

// Takes at most `most` bytes at a time.
class SlowSink : public core::OutputSink {
 public:
  explicit SlowSink(std::size_t most) : most_(most) {}
  core::SinkAnswer Write(Stream stream, std::string_view bytes, base::Deadline) override {
    const std::string_view taken = bytes.substr(0, most_);
    (stream == Stream::kStdout ? out : err).append(taken);
    return {.accepted = taken.size()};
  }
  std::string out;
  std::string err;

 private:
  std::size_t most_;
};

// Writes `text` in pieces of `size` as a pump does: what was not taken is offered again.
std::string Through(const SecretMask& mask, std::string_view text, std::size_t size, std::size_t most) {
  SlowSink slow(most);
  MaskingSink sink(slow, mask);
  while (!text.empty()) {
    const auto answer = sink.Write(Stream::kStdout, text.substr(0, size), base::Deadline::Never());
    text.remove_prefix(answer.accepted);
  }
  for (int i = 0; i < 1000; ++i) sink.Finish(base::Deadline::Never());
  return slow.out;
}

TEST(SecretMaskTest, ASecretIsMaskedHoweverTheOutputIsCut) {
  const SecretMask mask({"hunter22", "aaab", "abab", "hunter22-and-more", "xy"});
  const std::string text = "my hunter22, hunter2, aaaab ababab hunter22-and-more hunter22-and-mo xy hunter2";
  const std::string masked = "my ***, hunter2, a*** ***ab *** ***-and-mo xy hunter2";
  EXPECT_EQ(mask.Masked(text), masked);
  for (std::size_t size = 1; size <= text.size(); ++size)
    for (const std::size_t most : {std::size_t{1}, std::size_t{7}, text.size()})
      EXPECT_EQ(Through(mask, text, size, most), masked) << size << " " << most;
}

TEST(SecretMaskTest, OnlyWhatCouldBeASecretIsHeldBack) {
  const SecretMask mask({"hunter22"});
  SlowSink slow(1000);
  MaskingSink sink(slow, mask);
  (void)sink.Write(Stream::kStdout, "a line\n", base::Deadline::Never());
  EXPECT_EQ(slow.out, "a line\n");
  (void)sink.Write(Stream::kStdout, "the hun", base::Deadline::Never());
  (void)sink.Write(Stream::kStderr, "ter22\n", base::Deadline::Never());
  EXPECT_EQ(slow.out, "a line\nthe ");
  EXPECT_EQ(slow.err, "ter22\n");
  sink.Finish(base::Deadline::Never());
  EXPECT_EQ(slow.out, "a line\nthe hun");
}

TEST(SecretMaskTest, WhatACellShowsIsMaskedToo) {
  const SecretMask mask({"hunter22"});
  std::vector<core::CellOutput> outputs = {{.forms = {{"text/plain", "'hunter22'"}, {"text/html", "<b>hunter22</b>"}}}};
  mask.Mask(outputs);
  EXPECT_EQ(outputs[0].forms[0].data, "'***'");
  EXPECT_EQ(outputs[0].forms[1].data, "<b>***</b>");
  core::CellError error{.name = "KeyError", .message = "'hunter22'", .traceback = "KeyError: 'hunter22'"};
  mask.Mask(error);
  EXPECT_EQ(error.message, "'***'");
  EXPECT_EQ(error.traceback, "KeyError: '***'");
}

}  // namespace
}  // namespace skerry::engine
