#include "engine/views/contexts_view.hpp"

#include "engine/host.hpp"
#include "engine/hosted_session.hpp"

namespace skerry::engine {

base::Result<ContextSummary> ContextsView::Create(const std::string& name,
                                                  std::optional<core::Language> language) const {
  return Allowed(kToRun, session_, [&](HostedSession& hosted) {
    Details details = {{"name", ForAudit(name)}};
    if (language) details.push_back({"language", std::string(core::NameOf(*language))});
    const auto act = [&]() -> base::Result<ContextSummary> {
      SKERRY_ASSIGN_OR_RETURN(ContextSummary context,
                              hosted.life().CreateContext(name, language.value_or(core::Language::kPython)));
      hosted.Used();
      return context;
    };
    return Recorded({.event = "context.created", .session = hosted.id()}, details, act);
  });
}

base::Result<std::vector<ContextSummary>> ContextsView::List() const {
  return Allowed(kToRead, session_, [](HostedSession& hosted) -> base::Result<std::vector<ContextSummary>> {
    return hosted.life().contexts().List();
  });
}

base::Result<ContextSummary> ContextsView::Find(const std::string& name) const {
  return Allowed(kToRead, session_, [&](HostedSession& hosted) { return hosted.life().contexts().Find(name); });
}

template <class Act>
auto ContextsView::End(const char* event, const std::string& name, const Act& act) const
    -> std::invoke_result_t<const Act&, HostedSession&> {
  return Allowed(kToRun, session_, [&](HostedSession& hosted) {
    const Deed deed{.event = event, .session = hosted.id(), .weight = Deed::Weight::kEnding};
    return Recorded(deed, {{"context", ForAudit(name)}}, [&] { return act(hosted); });
  });
}

base::Result<ForkedContext> ContextsView::Fork(const std::string& name, const std::string& new_name) const {
  return Allowed(kToRun, session_, [&](HostedSession& hosted) {
    const auto act = [&]() -> base::Result<ForkedContext> {
      SKERRY_ASSIGN_OR_RETURN(ForkReport report, hosted.life().ForkContext(name, new_name));
      hosted.Used();
      SKERRY_ASSIGN_OR_RETURN(ContextSummary context, hosted.life().contexts().Find(new_name));
      return ForkedContext{std::move(context), std::move(report)};
    };
    return Recorded({.event = "context.forked", .session = hosted.id()},
                    {{"context", ForAudit(name)}, {"name", ForAudit(new_name)}}, act);
  });
}

base::Status ContextsView::Remove(const std::string& name) const {
  return End("context.deleted", name, [&](HostedSession& hosted) {
    host().ForgetApprovalsOfContexts(hosted);
    return hosted.life().contexts().Remove(name);
  });
}

base::Result<ContextSummary> ContextsView::Restart(const std::string& name) const {
  return End("context.restarted", name, [&](HostedSession& hosted) -> base::Result<ContextSummary> {
    host().ForgetApprovalsOfContexts(hosted);
    SKERRY_RETURN_IF_ERROR(hosted.life().RestartContext(name));
    return hosted.life().contexts().Find(name);
  });
}

base::Result<ContextSummary> ContextsView::Interrupt(const std::string& name) const {
  return End("context.interrupted", name, [&](HostedSession& hosted) -> base::Result<ContextSummary> {
    SKERRY_ASSIGN_OR_RETURN(ContextSummary before, hosted.life().contexts().Find(name));
    SKERRY_RETURN_IF_ERROR(hosted.life().contexts().Interrupt(name));
    return before;
  });
}

}  // namespace skerry::engine
