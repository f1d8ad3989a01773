#include "workspace/search.hpp"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "text/search_glob.hpp"
#include "workspace/beneath.hpp"
#include "workspace/path_errors.hpp"
#include "workspace/sorted_walk.hpp"
#include "workspace/text_search.hpp"

namespace skerry::workspace {
namespace {

constexpr std::size_t kMaxMatches = 10'000;

class Searcher {
 public:
  Searcher(const SearchOptions& options, const text::TextPattern* pattern) : options_(options) {
    if (pattern != nullptr) text_.emplace(options, *pattern, result_);
  }

  // Searches one file, which lies in `directory` under `name`.
  base::Status Take(const SortedWalk& walk, const std::string& path) {
    return Take(walk.directory(), walk.name(), walk.border(), path);
  }
  base::Status Take(int directory, const std::string& name, const MountBorder& border, const std::string& path) {
    const bool again = options_.after && options_.after->path == path;
    if (!text_) return again ? base::Status{} : AddFile(path);
    if (again && options_.after->line == SearchPosition::kWholeFile) return {};
    if (taken_ >= options_.max_files) {
      Stop(SearchEnd::kMaxFiles);
      return {};
    }
    ++taken_;
    SKERRY_RETURN_IF_ERROR(SearchFile(directory, name, border, path, again ? options_.after->line : 0));
    if (result_.complete()) last_ = SearchPosition{path, SearchPosition::kWholeFile};
    return {};
  }

  // Not all files were searched; `next` is where another search goes on.
  void Stop(SearchEnd end) {
    result_.end = end;
    result_.next = last_;
    if (!result_.next) result_.next = options_.after;
  }

  SearchResult& result() { return result_; }
  [[nodiscard]] bool IsOver() const { return !result_.complete(); }

 private:
  base::Status AddFile(const std::string& path) {
    if (result_.matches.size() >= std::clamp<std::size_t>(options_.max_matches, 1, kMaxMatches)) {
      Stop(SearchEnd::kMaxMatches);
      return {};
    }
    result_.matches.push_back({.path = path});
    last_ = SearchPosition{path, SearchPosition::kWholeFile};
    return {};
  }

  base::Status SearchFile(int directory, const std::string& name, const MountBorder& border, const std::string& path,
                          std::uint64_t after_line) {
    const auto fd = OpenFileIn(directory, name, border, O_RDONLY);
    Facts facts{};
    if (!fd || !FactsAt(fd->get(), "", facts)) {
      const bool gone = !fd && fd.error().code == base::Code::kNotFound;
      if (!gone) ++result_.closed;
      return {};
    }
    if (facts.stx_size > options_.max_file_bytes) {
      ++result_.large_files;
      return {};
    }
    // A file that cannot be read must not keep the search from the others.
    if (!text_->SearchFile(fd->get(), path, after_line)) ++result_.closed;
    return {};
  }

  const SearchOptions& options_;
  SearchResult result_;
  std::optional<TextSearch> text_;
  std::size_t taken_ = 0;
  std::optional<SearchPosition> last_;
};

struct Scope {
  std::string path;  // as MapPath gives it
  text::SearchGlob glob;
};

base::Status SearchTree(int top, const Scope& scope, const SearchOptions& options, Searcher& searcher) {
  SKERRY_ASSIGN_OR_RETURN(SortedWalk walk, SortedWalk::Open(top));
  if (options.after) {
    const std::string& after = options.after->path;
    if (!IsBelow(after, scope.path))
      return base::Err(base::Code::kInvalidArgument, "the position to go on from lies elsewhere");
    walk.BeginAt(after.substr(scope.path.empty() ? 0 : scope.path.size() + 1));
  }
  while (!searcher.IsOver()) {
    if (options.deadline.Expired()) {
      searcher.Stop(SearchEnd::kDeadline);
      break;
    }
    const auto there = walk.Next();
    if (!there && there.error().code != base::Code::kConflict) return std::unexpected(there.error());
    if (!there) searcher.Stop(SearchEnd::kMoved);
    if (!there || !*there) break;
    if (IsDirectory(walk.facts()) && !scope.glob.MayMatchBelow(walk.path())) walk.Skip();
    if (!IsFile(walk.facts()) || !scope.glob.Matches(walk.path())) continue;
    SKERRY_RETURN_IF_ERROR(searcher.Take(walk, JoinPath(scope.path, walk.path())));
  }
  searcher.result().closed += walk.passed_count();
  return {};
}

base::Result<SearchResult> Run(const AgentWorkspace& workspace, const SearchOptions& options) {
  Scope scope;
  SKERRY_ASSIGN_OR_RETURN(scope.path, MapPath(options.path));
  SKERRY_ASSIGN_OR_RETURN(scope.glob, text::SearchGlob::Make(options.glob));
  std::optional<text::TextPattern> pattern;
  if (options.pattern) {
    SKERRY_ASSIGN_OR_RETURN(pattern, text::TextPattern::Make(*options.pattern, options.kind, options.letter_case));
  }
  Searcher searcher(options, pattern ? &*pattern : nullptr);
  const auto top = workspace.resolver().Open(scope.path, O_RDONLY | O_DIRECTORY);
  if (top) {
    SKERRY_RETURN_IF_ERROR(SearchTree(top->get(), scope, options, searcher));
    return std::move(searcher.result());
  }
  SKERRY_ASSIGN_OR_RETURN(const Place place, workspace.resolver().Find(scope.path, Resolver::LastLink::kFollow));
  if (!place.HoldsFile()) return std::unexpected(top.error());
  if (scope.glob.Matches(NameOf(scope.path)))
    SKERRY_RETURN_IF_ERROR(searcher.Take(place.parent.get(), place.name, workspace.resolver().border(), scope.path));
  return std::move(searcher.result());
}

}  // namespace

std::string_view TextOf(SearchEnd end) {
  switch (end) {
    case SearchEnd::kComplete:
      return "everything was searched";
    case SearchEnd::kMaxMatches:
      return "there are more matches";
    case SearchEnd::kMaxFiles:
      return "there are more files than one search may read";
    case SearchEnd::kDeadline:
      return "there was no more time";
    case SearchEnd::kMoved:
      return "a directory was moved meanwhile";
  }
  return "";
}

base::Result<SearchResult> Search(const AgentWorkspace& workspace, const SearchOptions& options) {
  return Named(options.path, Run(workspace, options));
}

}  // namespace skerry::workspace
