#include "engine/context_manager.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/printable.hpp"
#include "engine/context_files.hpp"

namespace skerry::engine {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMostBefore = std::size_t{16} << 10U;  // bytes of cells of a shell that are remembered

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

// Adds a cell that may change the directory, or a variable with directories of code.
void AddMove(std::string_view cell, std::string& before) {
  constexpr auto kWords = std::to_array<std::string_view>({"cd", "pushd", "popd", "PATH"});
  if (std::ranges::none_of(kWords, [&](std::string_view word) { return cell.contains(word); })) return;
  before.append(cell).append("\n");
  // Beyond this the directory is unknown: behind an open quote every cell is asked about.
  if (before.size() > kMostBefore) before = "'";
}

}  // namespace

std::string_view NameOf(ContextCondition condition) {
  switch (condition) {
    case ContextCondition::kIdle:
      return "idle";
    case ContextCondition::kBusy:
      return "busy";
    case ContextCondition::kDead:
      return "dead";
  }
  return "";
}

base::Status CheckContextName(std::string_view name) {
  if (!name.empty() && name.size() <= kMaxNameBytes && std::ranges::all_of(name, IsNameCharacter)) return {};
  return base::Err(base::Code::kInvalidArgument,
                   "context '" + base::Printable(base::Excerpt(name)) +
                       "': a name has 1 to 64 of the letters a-z and A-Z, digits and ._-");
}

struct ContextManager::Entry {
  // Guarded by the manager's mutex.
  ContextSummary summary;
  SteadyClock::time_point touched = SteadyClock::now();
  std::stop_source interrupt;  // of the present use
  std::string before;          // cells of a shell that may have changed where later ones look for files

  // Only for the present use.
  std::shared_ptr<core::Sandbox> sandbox;
  std::unique_ptr<core::Context> context;

  [[nodiscard]] bool Busy() const { return summary.condition == ContextCondition::kBusy; }
  [[nodiscard]] bool Alive() const { return context != nullptr && context->Alive() && sandbox->IsRunning(); }
  void Occupy() {
    summary.condition = ContextCondition::kBusy;
    interrupt = std::stop_source();
  }
  void Drop() {
    context.reset();
    sandbox.reset();
  }
};

// The one use of an entry at a time. An entry that is dead when its use ends is listed as dead.
class ContextManager::Use {
 public:
  Use(ContextManager& manager, EntryPointer entry) : manager_(&manager), entry_(std::move(entry)) {}
  Use(Use&& other) noexcept = default;
  Use& operator=(Use&&) = delete;
  ~Use() {
    if (entry_ == nullptr) return;
    if (!entry_->Alive()) entry_->Drop();
    manager_->Release(*entry_);
  }

  Entry& operator*() const { return *entry_; }
  Entry* operator->() const { return entry_.get(); }

 private:
  ContextManager* manager_;
  EntryPointer entry_;
};

ContextManager::~ContextManager() {
  RemoveAll();
}

base::Result<ContextManager::EntryPointer> ContextManager::Lookup(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found != entries_.end()) return found->second;
  return base::Err(base::Code::kNotFound, "there is no context '" + base::Printable(base::Excerpt(name)) +
                                              "'; skerry context list shows those that there are");
}

base::Result<ContextManager::Use> ContextManager::Add(const std::string& name, core::Language language) {
  SKERRY_RETURN_IF_ERROR(CheckContextName(name));
  const std::scoped_lock lock(mutex_);
  if (entries_.contains(name))
    return base::Err(base::Code::kConflict,
                     "there is a context '" + name + "' already; skerry context delete " + name + " removes it");
  if (entries_.size() >= options_.max_contexts)
    return base::Err(base::Code::kUnavailable, "there are " + std::to_string(entries_.size()) +
                                                   " contexts, the most that may be; remove one with skerry context "
                                                   "delete NAME");
  auto entry = std::make_shared<Entry>();
  entry->summary.name = name;
  entry->summary.language = language;
  entry->summary.created = entry->summary.last_used = std::chrono::system_clock::now();
  entry->Occupy();
  entries_.emplace(name, entry);
  return Use(*this, std::move(entry));
}

base::Result<ContextManager::Use> ContextManager::ClaimAlive(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(const EntryPointer entry, Lookup(name));
  if (entry->Busy())
    return base::Err(base::Code::kConflict, "context '" + name + "' is busy; wait, or end what it does with skerry " +
                                                "context interrupt " + name);
  if (!entry->Alive()) {
    entry->summary.condition = ContextCondition::kDead;
    return base::Err(base::Code::kNotStarted, "context '" + name + "' has died and its variables are lost; skerry " +
                                                  "context restart " + name + " begins anew");
  }
  entry->Occupy();
  return Use(*this, entry);
}

base::Result<ContextManager::Use> ContextManager::Claim(const std::string& name, core::Language language) {
  auto added = Add(name, language);
  if (added || added.error().code != base::Code::kConflict) return added;
  if (const auto found = Find(name); found && found->language != language)
    return base::Err(base::Code::kConflict, "context '" + name + "' is one of " +
                                                std::string(core::NameOf(found->language)) + ", not of " +
                                                std::string(core::NameOf(language)) +
                                                "; use another name, or remove it with skerry context delete " + name);
  return ClaimAlive(name);
}

base::Result<ContextManager::Use> ContextManager::TakeOver(const std::string& name) {
  std::unique_lock lock(mutex_);
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const EntryPointer entry, Lookup(name));
    if (!entry->Busy()) {
      entry->Occupy();
      return Use(*this, entry);
    }
    entry->interrupt.request_stop();
    released_.wait(lock);
  }
}

void ContextManager::Release(Entry& entry) {
  const std::scoped_lock lock(mutex_);
  entry.summary.condition = entry.context != nullptr ? ContextCondition::kIdle : ContextCondition::kDead;
  entry.summary.last_used = std::chrono::system_clock::now();
  entry.touched = SteadyClock::now();
  released_.notify_all();
}

void ContextManager::Forget(const Entry& entry) {
  const std::scoped_lock lock(mutex_);
  entries_.erase(entry.summary.name);
}

base::Status ContextManager::Open(Entry& entry) const {
  SKERRY_ASSIGN_OR_RETURN(ContextPlace place, options_.make_sandbox(entry.summary.language));
  entry.sandbox = std::move(place.sandbox);
  core::Contexts* contexts = entry.sandbox->contexts();
  if (contexts == nullptr)
    return base::Err(base::Code::kUnavailable, "the " + place.backend + " sandbox has no contexts");
  core::NewContext wanted{.language = entry.summary.language, .ends = options_.ends};
  if (options_.environment) {
    SKERRY_ASSIGN_OR_RETURN(wanted.environment, options_.environment());
  }
  SKERRY_ASSIGN_OR_RETURN(entry.context, contexts->OpenContext(wanted));
  const std::scoped_lock lock(mutex_);
  entry.summary.start = entry.context->Started();
  entry.summary.degraded = entry.sandbox->Degraded();
  entry.summary.degraded.insert(entry.summary.degraded.end(), place.notes.begin(), place.notes.end());
  entry.summary.cells = 0;
  entry.before.clear();
  entry.summary.created = std::chrono::system_clock::now();
  return {};
}

std::string ContextManager::BeforeOf(const std::string& name) const {
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(name);
  return found == entries_.end() ? "" : found->second->before;
}

base::Result<CellRun> ContextManager::Run(const std::string& name, core::Language language, const core::Cell& cell,
                                          core::OutputSink& sink, std::stop_token stop) {
  SKERRY_ASSIGN_OR_RETURN(const Use use, Claim(name, language));
  std::stop_source interrupt = use->interrupt;
  const std::stop_callback forward(std::move(stop), [&interrupt] { interrupt.request_stop(); });
  if (use->context == nullptr) {
    if (auto opened = Open(*use); !opened) {
      Forget(*use);
      return std::unexpected(std::move(opened).error());
    }
  }
  if (interrupt.stop_requested())
    return CellRun{.result = {.outcome = core::EndedByStop()}, .context = SummaryOf(*use)};
  auto result = use->context->Run(cell, sink, interrupt.get_token());
  {
    const std::scoped_lock lock(mutex_);
    ++use->summary.cells;
    if (language == core::Language::kShell) AddMove(cell.text, use->before);
  }
  // After an error it is unknown what the interpreter has seen of the cell.
  if (!result || !result->alive) use->Drop();
  if (!result) return std::unexpected(std::move(result).error());
  return CellRun{.result = std::move(*result), .context = SummaryOf(*use)};
}

ContextSummary ContextManager::SummaryOf(const Entry& entry) const {
  const std::scoped_lock lock(mutex_);
  return entry.summary;
}

base::Result<ContextSummary> ContextManager::Create(const std::string& name, core::Language language) {
  SKERRY_ASSIGN_OR_RETURN(const Use use, Add(name, language));
  if (auto opened = Open(*use); !opened) {
    Forget(*use);
    return std::unexpected(std::move(opened).error());
  }
  const std::scoped_lock lock(mutex_);
  ContextSummary summary = use->summary;
  summary.condition = ContextCondition::kIdle;
  return summary;
}

std::vector<ContextSummary> ContextManager::List() const {
  const std::scoped_lock lock(mutex_);
  std::vector<ContextSummary> summaries;
  summaries.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) summaries.push_back(entry->summary);
  return summaries;
}

base::Result<ContextSummary> ContextManager::Find(const std::string& name) const {
  const std::scoped_lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(const EntryPointer entry, Lookup(name));
  return entry->summary;
}

base::Result<bool> ContextManager::Interrupt(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  SKERRY_ASSIGN_OR_RETURN(const EntryPointer entry, Lookup(name));
  if (!entry->Busy()) return false;
  entry->interrupt.request_stop();
  return true;
}

base::Status ContextManager::Restart(const std::string& name) {
  SKERRY_ASSIGN_OR_RETURN(const Use use, TakeOver(name));
  use->Drop();
  return Open(*use);
}

base::Status ContextManager::Remove(const std::string& name) {
  SKERRY_ASSIGN_OR_RETURN(const Use use, TakeOver(name));
  use->Drop();
  Forget(*use);
  return {};
}

void ContextManager::RemoveAll() {
  const auto all = List();
  for (const ContextSummary& summary : all) (void)Interrupt(summary.name);
  for (const ContextSummary& summary : all) (void)Remove(summary.name);
}

base::Result<ForkReport> ContextManager::Fork(const std::string& name, const std::string& new_name) {
  SKERRY_ASSIGN_OR_RETURN(const Use source, ClaimAlive(name));
  SKERRY_ASSIGN_OR_RETURN(const Use target, Add(new_name, source->summary.language));
  const FileCopyLimits limits{.timeout = options_.fork_timeout, .max_bytes = options_.max_fork_bytes};
  const auto branch = [&]() -> base::Result<ForkReport> {
    SKERRY_ASSIGN_OR_RETURN(core::ContextState state, source->context->Save(options_.fork_timeout));
    SKERRY_RETURN_IF_ERROR(Open(*target));
    target->before = source->before;
    ForkReport report;
    if (source->sandbox.get() != target->sandbox.get()) {
      SKERRY_ASSIGN_OR_RETURN(PackedFiles files, PackFiles(*source->sandbox, limits));
      SKERRY_RETURN_IF_ERROR(UnpackFiles(*target->sandbox, files, limits));
      report.files = std::move(files.remarks);
    }
    SKERRY_RETURN_IF_ERROR(target->context->Load(state, options_.fork_timeout));
    report.variables = std::move(state.left_out);
    return report;
  };
  auto report = branch();
  if (report) return report;
  target->Drop();
  Forget(*target);
  return report;
}

void ContextManager::Sweep() {
  std::vector<Use> idle;
  {
    const std::scoped_lock lock(mutex_);
    const auto now = SteadyClock::now();
    for (const auto& [name, entry] : entries_) {
      if (entry->Busy() || now - entry->touched < options_.idle_timeout) continue;
      entry->Occupy();
      idle.emplace_back(*this, entry);
    }
  }
  for (const Use& use : idle) {
    use->Drop();
    Forget(*use);
  }
}

}  // namespace skerry::engine
