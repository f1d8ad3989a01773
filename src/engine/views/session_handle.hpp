// SessionHandle: a session that a view found for a principal. It names the session to other views, which have what can
// be done with it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "engine/session_condition.hpp"

namespace skerry::engine {

class HostedSession;

class SessionHandle {
 public:
  [[nodiscard]] const std::string& id() const;  // unique for ever
  [[nodiscard]] std::string name() const;       // as its tenant calls it
  [[nodiscard]] const std::string& tenant() const;
  [[nodiscard]] Condition condition() const;

 private:
  friend class View;
  explicit SessionHandle(std::shared_ptr<HostedSession> hosted) : hosted_(std::move(hosted)) {}

  std::shared_ptr<HostedSession> hosted_;
};

}  // namespace skerry::engine
