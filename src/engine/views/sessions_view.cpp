#include "engine/views/sessions_view.hpp"

#include <utility>

#include "engine/host.hpp"
#include "engine/views/ceilings.hpp"
#include "engine/views/turns.hpp"
#include "workspace/usage.hpp"

namespace skerry::engine {

std::map<std::string, std::optional<std::string>> ShownVariables(const SessionSettings& settings,
                                                                 const Principal& principal) {
  // A principal that may run programs could print the values.
  const bool values = principal.scopes.May(kToRun);
  std::map<std::string, std::optional<std::string>> shown;
  for (const auto& [name, value] : settings.environment)
    shown.emplace(name, values && !settings.secrets.contains(name) ? std::optional(value) : std::nullopt);
  return shown;
}

base::Result<NewSession> SessionsView::Draft() const {
  return Allowed(kToRun, [&]() -> base::Result<NewSession> {
    return NewSession{.settings = options().defaults, .ttl = options().ttl};
  });
}

base::Status SessionsView::CheckSettings(const SessionSettings& settings) const {
  if (settings.mode == LifeMode::kDisabled && options().defaults.mode != LifeMode::kDisabled)
    return base::Err(base::Code::kRejected, "sessions without a sandbox are not allowed by the configuration");
  SKERRY_RETURN_IF_ERROR(CheckLimits(principal(), options().defaults.limits, settings.limits));
  // The same rules as for the variables of a run.
  SKERRY_RETURN_IF_ERROR(core::Validate({.code = "-", .environment = settings.environment}));
  SKERRY_RETURN_IF_ERROR(manager().Choose(settings.backend));
  if (!settings.image) return {};
  const auto& acquire = manager().options().acquire_root;
  if (!acquire) return base::Err(base::Code::kUnavailable, "this daemon has no images");
  SKERRY_RETURN_IF_ERROR(acquire(*settings.image));
  return {};
}

base::Result<SessionsView::Made> SessionsView::Create(NewSession wanted) const {
  return Allowed(kToRun, [&]() -> base::Result<Made> {
    SKERRY_RETURN_IF_ERROR(CheckSettings(wanted.settings));
    if (wanted.claim) wanted.claim->tenant = principal().tenant;
    SKERRY_ASSIGN_OR_RETURN(Host::Made made, host().Create(principal(), std::move(wanted)));
    return Made{HandleOf(std::move(made.session)), made.replayed};
  });
}

base::Result<SessionsView::Made> SessionsView::FindOrCreate(NewSession wanted) const {
  return Allowed(kToRun, [&]() -> base::Result<Made> {
    if (!wanted.name) return base::Err(base::Code::kInvalidArgument, "the session has no name to be found by");
    const std::string name = *wanted.name;
    Principal own = principal();
    own.scopes = {core::TokenScope::kRun};  // sessions of other tenants are not meant
    if (auto hosted = host().Find(own, name)) return Made{HandleOf(*std::move(hosted)), true};
    auto made = Create(std::move(wanted));
    if (made || made.error().code != base::Code::kConflict) return made;
    SKERRY_ASSIGN_OR_RETURN(auto hosted, host().Find(own, name));
    return Made{HandleOf(std::move(hosted)), true};
  });
}

base::Result<SessionHandle> SessionsView::Find(const std::string& name) const {
  return Allowed(kToRead, [&]() -> base::Result<SessionHandle> {
    SKERRY_ASSIGN_OR_RETURN(auto hosted, host().Find(principal(), name));
    return HandleOf(std::move(hosted));
  });
}

base::Result<std::vector<SessionHandle>> SessionsView::List() const {
  return Allowed(kToRead, [&]() -> base::Result<std::vector<SessionHandle>> {
    std::vector<SessionHandle> handles;
    for (auto& hosted : host().List(principal())) handles.push_back(HandleOf(std::move(hosted)));
    return handles;
  });
}

base::Result<ShownSession> SessionsView::Show(const SessionHandle& session) const {
  return Allowed(kToRead, session, [&](HostedSession& hosted) -> base::Result<ShownSession> {
    const core::HostedSessionRecord record = hosted.record(false);
    const auto unused = std::chrono::steady_clock::now() - hosted.life().LastUse();
    ShownSession shown{.id = record.id,
                       .name = hosted.name(),
                       .tenant = record.tenant,
                       .condition = hosted.condition(),
                       .settings = hosted.settings(),
                       .environment = ShownVariables(hosted.settings(), principal()),
                       .created_at = record.created_at,
                       .used_at = std::chrono::system_clock::now() -
                                  std::chrono::duration_cast<std::chrono::system_clock::duration>(unused),
                       .expires_at = record.expires_at,
                       .running = host().CountRuns(record.id)};
    shown.settings.environment.clear();
    return shown;
  });
}

base::Result<WorkspaceUsage> SessionsView::Usage(const SessionHandle& session) const {
  return Allowed(kToRead, session, [](HostedSession& hosted) -> base::Result<WorkspaceUsage> {
    WorkspaceUsage found;
    SKERRY_RETURN_IF_ERROR(hosted.life().Look([&](const workspace::AgentWorkspace& files) -> base::Status {
      SKERRY_ASSIGN_OR_RETURN(const workspace::Usage usage, workspace::CountUsage(files.root()));
      found = {.bytes = usage.bytes, .entries = usage.entries, .max_bytes = files.options().max_bytes};
      return {};
    }));
    return found;
  });
}

// The record of the session's end names the principal.
base::Status SessionsView::Delete(const SessionHandle& session) const {
  return Allowed(kToRun, session, [&](HostedSession&) { return Remove(HostedOf(session)); });
}

base::Status SessionsView::Extend(const SessionHandle& session, std::chrono::seconds ttl) const {
  return Allowed(kToRun, session, [&](HostedSession& hosted) {
    const Deed deed{.event = "session.extended", .session = hosted.id()};
    return Recorded(deed, {{"ttl_seconds", ttl.count()}}, [&] { return host().Extend(hosted, ttl); });
  });
}

template <class Act>
base::Status SessionsView::Change(const SessionHandle& session, const char* event, const Act& act) const {
  return Allowed(kToRun, session, [&](HostedSession& hosted) {
    return Recorded({.event = event, .session = hosted.id()}, {}, [&]() -> base::Status {
      SKERRY_RETURN_IF_ERROR(act(hosted.life()));
      chronicle().SessionState(hosted.name(), hosted.tenant(), NameOf(hosted.condition()));
      return {};
    });
  });
}

base::Status SessionsView::Pause(const SessionHandle& session) const {
  return Change(session, "session.paused", [](SessionLife& life) { return life.Pause(); });
}

base::Status SessionsView::Resume(const SessionHandle& session) const {
  return Change(session, "session.resumed", [](SessionLife& life) { return life.Resume(); });
}

base::Status SessionsView::Stop(const SessionHandle& session) const {
  return Allowed(kToRun, session, [&](HostedSession& hosted) {
    const Deed deed{.event = "session.stopped", .session = hosted.id(), .weight = Deed::Weight::kEnding};
    return Recorded(deed, {}, [&] { return host().Stop(hosted); });
  });
}

base::Result<std::string> SessionsView::Diff(const SessionHandle& session) const {
  return Allowed(kToRead, session, [&](HostedSession& hosted) -> base::Result<std::string> {
    std::string diff;
    SKERRY_RETURN_IF_ERROR(hosted.life().Change([&](Session& open) -> base::Status {
      SKERRY_ASSIGN_OR_RETURN(diff, open.Diff());
      return {};
    }));
    SKERRY_RETURN_IF_ERROR(RecordExport(hosted, "diff of the last run", diff.size()));
    return diff;
  });
}

base::Result<SessionDifferences> SessionsView::Check(const SessionHandle& session, const std::stop_token& stop) const {
  return Allowed(kToRead, session, [&](HostedSession& hosted) -> base::Result<SessionDifferences> {
    SessionDifferences found;
    SKERRY_RETURN_IF_ERROR(hosted.life().Change([&](Session& open) -> base::Status {
      SKERRY_ASSIGN_OR_RETURN(const auto turn, turns().comparing.Take(principal().tenant, stop));
      SKERRY_ASSIGN_OR_RETURN(found.files, open.Unrecorded());
      SKERRY_ASSIGN_OR_RETURN(found.left_out, record()->LeftOut(open.id()));
      return {};
    }));
    return found;
  });
}

base::Result<std::vector<core::FileChange>> SessionsView::Undo(const SessionHandle& session,
                                                               std::optional<workspace::LaterWork> later) const {
  return Allowed(kToRun, session, [&](HostedSession& hosted) {
    Details details;
    if (later) details.push_back({"force", *later == workspace::LaterWork::kGoes});
    const auto act = [&]() -> base::Result<std::vector<core::FileChange>> {
      std::vector<core::FileChange> changes;
      SKERRY_RETURN_IF_ERROR(hosted.life().ChangeAtRest([&](Session& open) -> base::Status {
        SKERRY_ASSIGN_OR_RETURN(changes, open.Undo(later.value_or(workspace::LaterWork::kStays)));
        return {};
      }));
      return changes;
    };
    return Recorded({.event = "files.undone", .session = hosted.id()}, details, act);
  });
}

}  // namespace skerry::engine
