#include "transport/v1/output.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "engine/views/runs_view.hpp"
#include "json/text.hpp"
#include "transport/v1/run_json.hpp"

namespace skerry::transport::v1 {
namespace {

constexpr std::uint64_t kMostAtOnce = std::uint64_t{8} << 20U;
constexpr std::uint64_t kUsual = std::uint64_t{1} << 20U;

struct Collected {
  std::vector<engine::OutputPiece> pieces;
  std::uint64_t next = 0;
};

base::Result<Collected> Collect(const engine::Run& run, std::uint64_t offset, std::uint64_t limit,
                                const std::string& stream) {
  SKERRY_ASSIGN_OR_RETURN(engine::OutputReader reader, run.Output(offset));
  Collected collected{.next = offset};
  for (std::uint64_t total = 0; total < limit;) {
    SKERRY_ASSIGN_OR_RETURN(auto pieces, reader.Next(static_cast<std::size_t>(limit - total)));
    if (pieces.empty()) break;
    for (engine::OutputPiece& piece : pieces) {
      if (total >= limit) break;
      // Bytes beyond the limit are for the next request.
      piece.bytes.resize(std::min<std::size_t>(piece.bytes.size(), static_cast<std::size_t>(limit - total)));
      total += piece.bytes.size();
      collected.next = piece.offset + piece.bytes.size();
      const bool wanted = stream.empty() || (stream == "stdout") == (piece.stream == core::Stream::kStdout);
      if (wanted) collected.pieces.push_back(std::move(piece));
    }
  }
  return collected;
}

}  // namespace

base::Result<std::uint64_t> OffsetOf(const http::Request& request) {
  const auto last = request.head.headers.Find("Last-Event-ID");
  if (last && !request.head.query.Find("offset")) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(last->data(), last->data() + last->size(), value);
    const bool fits = value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (error == std::errc() && end == last->data() + last->size() && fits) return value;
    return base::Err(base::Code::kInvalidArgument, "Last-Event-ID must be a whole number");
  }
  return NumberOf(request, "offset", 0, std::numeric_limits<std::int64_t>::max(), 0);
}

base::Result<http::Response> OutputAnswer(const Api& api, const http::Request& request, const engine::Run& run) {
  constexpr std::array<std::string_view, 2> kStreams = {"stdout", "stderr"};
  SKERRY_RETURN_IF_ERROR(OnlyQuery(request, {"offset", "limit", "stream"}));
  SKERRY_ASSIGN_OR_RETURN(const std::uint64_t offset, OffsetOf(request));
  SKERRY_ASSIGN_OR_RETURN(const std::uint64_t limit, NumberOf(request, "limit", 1, kMostAtOnce, kUsual));
  SKERRY_ASSIGN_OR_RETURN(const std::string stream, WordOf(request, "stream", kStreams, ""));
  if (run.HasLostOutput())
    return base::Err(base::Code::kNotFound,
                     "the output of " + run.id() +
                         " is not kept any more: the oldest goes when there is no room for newer "
                         "(sandbox.budgets.outputMb, outputPerTenantMb)");
  // Read before the output: nothing is written after the end.
  const auto state = run.state();
  SKERRY_ASSIGN_OR_RETURN(const auto turn, api.large.Take(request.caller.tenant, request.gone));
  SKERRY_ASSIGN_OR_RETURN(const Collected collected, Collect(run, offset, limit, stream));
  const auto accept = request.head.headers.Find("Accept");
  if (accept && accept->contains("application/octet-stream")) {
    std::string bytes;
    for (const engine::OutputPiece& piece : collected.pieces) bytes += piece.bytes;
    http::Response response = TextAnswer(200, std::move(bytes), "application/octet-stream");
    response.headers.Add("X-Skerry-Next-Offset", std::to_string(collected.next));
    response.headers.Add("X-Skerry-State", std::string(core::NameOf(state)));
    return response;
  }
  Json pieces = Json::array();
  for (const engine::OutputPiece& piece : collected.pieces) pieces.push_back(PieceToJson(piece));
  return JsonAnswer(200, {{"offset", offset},
                          {"next_offset", collected.next},
                          {"state", core::NameOf(state)},
                          {"pieces", std::move(pieces)}});
}

base::Result<http::Response> PageOfRuns(const engine::Access& access, const http::Request& request,
                                        core::RunFilter filter) {
  SKERRY_ASSIGN_OR_RETURN(const PageOptions page, PageOf(request));
  filter.limit = page.limit;
  if (!page.cursor.empty()) {
    const auto [end, error] =
        std::from_chars(page.cursor.data(), page.cursor.data() + page.cursor.size(), filter.before);
    if (error != std::errc() || end != page.cursor.data() + page.cursor.size() || filter.before == 0)
      return base::Err(base::Code::kInvalidArgument, "cursor is not one that was given");
  }
  SKERRY_ASSIGN_OR_RETURN(const auto runs, access.runs().List(filter));
  // A page ends with the run that makes it large, so that no list takes much memory.
  constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
  std::string items;
  std::size_t count = 0;
  for (; count < runs.size() && items.size() < kMostBytes; ++count)
    items += (count == 0 ? "" : ",") + json::Text(ExecutionToJson(access, *runs[count]));
  const bool more = count < runs.size() || runs.size() == page.limit;
  const Json next = more && count != 0 ? Json(std::to_string(runs[count - 1]->record().sequence)) : Json(nullptr);
  return TextAnswer(200, "{\"items\":[" + items + "],\"next_cursor\":" + json::Text(next) + "}\n", "application/json");
}

}  // namespace skerry::transport::v1
