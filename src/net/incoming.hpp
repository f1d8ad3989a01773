// Incoming: a server's answer.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/deadline.hpp"
#include "base/result.hpp"

namespace skerry::net {

// The body is read piece by piece. When it was read to its end, the connection serves another request; else the
// connection ends with the Incoming. For one thread at a time; may outlive its client. A requested stop is kTimeout
// too.
class Incoming {
 public:
  struct State;
  explicit Incoming(std::unique_ptr<State> state);
  Incoming(Incoming&&) noexcept;
  Incoming& operator=(Incoming&&) = delete;
  ~Incoming();

  [[nodiscard]] int status() const;
  // Whatever the case of `name`; the first of several.
  [[nodiscard]] std::optional<std::string> Header(std::string_view name) const;
  // Up to 64 KB, as soon as there is something; "" at the end. kUnavailable when the connection is lost. After kTimeout
  // nothing is lost: it can be called again.
  base::Result<std::string> Read(base::Deadline deadline, const std::stop_token& stop = {});
  // The whole body; kTooLarge above `limit` bytes.
  base::Result<std::string> ReadAll(std::size_t limit, base::Deadline deadline, const std::stop_token& stop = {});

 private:
  std::unique_ptr<State> state_;
};

}  // namespace skerry::net
