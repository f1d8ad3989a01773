#include "engine/secret_mask.hpp"

#include <algorithm>
#include <utility>

namespace skerry::engine {
namespace {

constexpr std::size_t kShortest = 4;
constexpr std::string_view kMask = "***";

}  // namespace

SecretMask::SecretMask(std::vector<std::string> secrets) : secrets_(std::move(secrets)) {
  std::erase_if(secrets_, [](const std::string& secret) { return secret.size() < kShortest; });
  std::ranges::sort(secrets_, [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

SecretMask::Found SecretMask::FindIn(std::string_view text) const {
  Found first{.at = text.size()};
  for (const std::string& secret : secrets_)
    // Of two at one place the longer one counts, which comes first.
    if (const std::size_t at = text.find(secret); at < first.at) first = {.at = at, .size = secret.size()};
  return first;
}

std::string SecretMask::Masked(std::string_view text) const {
  std::string masked;
  for (;;) {
    const Found found = FindIn(text);
    masked += text.substr(0, found.at);
    if (found.size == 0) return masked;
    masked += kMask;
    text.remove_prefix(found.at + found.size);
  }
}

std::string SecretMask::TakeMasked(std::string& text) const {
  std::string masked;
  std::string_view rest = text;
  for (;;) {
    const std::size_t known = rest.size() - PossibleBeginning(rest);
    const Found found = FindIn(rest);
    if (found.at >= known) {
      masked += rest.substr(0, known);
      text.erase(0, text.size() - (rest.size() - known));
      return masked;
    }
    masked += rest.substr(0, found.at);
    masked += kMask;
    rest.remove_prefix(found.at + found.size);
  }
}

std::size_t SecretMask::PossibleBeginning(std::string_view text) const {
  std::size_t most = 0;
  for (const std::string& secret : secrets_)
    for (std::size_t size = std::min(secret.size() - 1, text.size()); size > most; --size)
      if (text.ends_with(std::string_view(secret).substr(0, size))) most = size;
  return most;
}

void SecretMask::Mask(std::vector<core::CellOutput>& outputs) const {
  for (core::CellOutput& output : outputs)
    for (core::RichData& form : output.forms) form.data = Masked(form.data);
}

void SecretMask::Mask(core::CellError& error) const {
  error.message = Masked(error.message);
  error.traceback = Masked(error.traceback);
}

bool MaskingSink::Send(core::Stream stream, base::Deadline deadline) {
  std::string& masked = At(stream).masked;
  if (masked.empty()) return true;
  const core::SinkAnswer answer = sink_.Write(stream, masked, deadline);
  wants_more_ = wants_more_ && answer.wants_more;
  masked.erase(0, answer.accepted);
  return masked.empty();
}

core::SinkAnswer MaskingSink::Write(core::Stream stream, std::string_view bytes, base::Deadline deadline) {
  if (!Send(stream, deadline)) return {.accepted = 0, .wants_more = wants_more_};
  Pending& pending = At(stream);
  pending.held.append(bytes);
  pending.masked = mask_.TakeMasked(pending.held);
  (void)Send(stream, deadline);
  return {.accepted = bytes.size(), .wants_more = wants_more_};
}

void MaskingSink::Finish(base::Deadline deadline) {
  for (const core::Stream stream : {core::Stream::kStdout, core::Stream::kStderr}) {
    Pending& pending = At(stream);
    pending.masked += mask_.Masked(std::exchange(pending.held, {}));
    (void)Send(stream, deadline);
  }
}

}  // namespace skerry::engine
