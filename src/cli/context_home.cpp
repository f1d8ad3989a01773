#include "cli/context_home.hpp"

namespace skerry::cli {
base::Result<ContextHome> ContextHome::Find(const Context& context, const std::optional<std::string>& session) {
  if (session) return Need(context, session, "");
  SKERRY_ASSIGN_OR_RETURN(PrivateDaemon daemon, PrivateDaemon::Find());
  return ContextHome(std::move(daemon));
}

base::Result<ContextHome> ContextHome::Need(const Context& context, const std::optional<std::string>& session,
                                            const std::string& wanted) {
  if (!session) {
    SKERRY_ASSIGN_OR_RETURN(PrivateDaemon daemon, PrivateDaemon::Need(context, wanted));
    return ContextHome(std::move(daemon));
  }
  SKERRY_RETURN_IF_ERROR(InSession(*session));
  SKERRY_ASSIGN_OR_RETURN(DaemonClient daemon, DaemonClient::Find(context));
  return ContextHome(std::move(daemon), *session);
}

std::string ContextHome::Target(std::string_view behind) const {
  return "/v1/sessions/" + session_ + "/contexts" + std::string(behind);
}

base::Result<net::Incoming> ContextHome::Send(const net::OutgoingRequest& request) {
  if (!private_) return served_->Send(request);
  auto answer = private_->client().Exchange(request);
  if (!answer && answer.error().code == base::Code::kUnavailable) return std::unexpected(PrivateDaemonEnded());
  if (answer) SKERRY_RETURN_IF_ERROR(DaemonClient::CheckAccepted(*answer));
  return answer;
}

}  // namespace skerry::cli
