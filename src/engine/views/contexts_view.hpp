// ContextsView: the contexts of a session, for a principal. Cells are runs: RunsView.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/context_manager.hpp"
#include "engine/views/view.hpp"

namespace skerry::engine {

struct ForkedContext {
  ContextSummary context;
  ForkReport left_out;
};

class ContextsView : public View {
 public:
  ContextsView(const Access& access, SessionHandle session) : View(access), session_(std::move(session)) {}

  // Python where no language is named. kConflict when there is a context of that name.
  base::Result<ContextSummary> Create(const std::string& name, std::optional<core::Language> language) const;
  [[nodiscard]] base::Result<std::vector<ContextSummary>> List() const;  // by name
  [[nodiscard]] base::Result<ContextSummary> Find(const std::string& name) const;
  // A second context with the same variables, and with a copy of the files where contexts have files of their own.
  base::Result<ForkedContext> Fork(const std::string& name, const std::string& new_name) const;
  // A cell that runs is interrupted first.
  base::Status Remove(const std::string& name) const;
  base::Result<ContextSummary> Restart(const std::string& name) const;
  // Gives the context as it was before, so that the client learns whether there was something to interrupt.
  base::Result<ContextSummary> Interrupt(const std::string& name) const;

 private:
  // Does something that ends what happens in a context.
  template <class Act>
  auto End(const char* event, const std::string& name, const Act& act) const
      -> std::invoke_result_t<const Act&, HostedSession&>;

  SessionHandle session_;
};

}  // namespace skerry::engine
