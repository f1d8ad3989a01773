// The other end of the keeper of contexts: finds it, or starts it, and asks for one thing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "cli/command.hpp"
#include "cli/context_frames.hpp"
#include "cli/context_place.hpp"
#include "core/output_sink.hpp"

namespace skerry::cli {

// A connection, for one request.
class KeeperClient {
 public:
  using Json = nlohmann::ordered_json;

  enum class Start {
    kNever,     // kNotFound when there is no keeper
    kIfNeeded,  // in the background, in a session of its own
  };
  static base::Result<KeeperClient> Open(const Context& context, Start start);

  // The keeper is another build of skerry than this one.
  [[nodiscard]] bool IsAnotherBuild() const;

  base::Status Ask(const Json& request);
  // The next word of the answer; kUnavailable when the keeper has gone. An error of the keeper's is the error.
  base::Result<Json> Hear(base::Deadline deadline);
  // The same without waiting: nothing when no whole word is there.
  base::Result<std::optional<Json>> HearNow();
  // Until the keeper has closed the connection.
  base::Status AwaitEnd(base::Deadline deadline);

  [[nodiscard]] int socket() const { return socket_.get(); }

 private:
  explicit KeeperClient(base::UniqueFd socket)
      : socket_(std::move(socket)), reader_(std::make_unique<FrameReader>(socket_.get())) {}

  base::UniqueFd socket_;
  std::unique_ptr<FrameReader> reader_;
  std::string program_;  // that the keeper is
};

}  // namespace skerry::cli
