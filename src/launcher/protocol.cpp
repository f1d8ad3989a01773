#include "launcher/protocol.hpp"

#include <algorithm>
#include <array>

#include "launcher/wire.hpp"
#include "os/cgroup.hpp"

namespace skerry::launcher {
namespace {

enum class Tag : std::uint64_t {
  kStart = 1,
  kUsageRequest,
  kStop,
  kStarted,
  kFailed,
  kUsage,
  kEnded,
  kCommand,
  kCommandEnded,
  kTerminalOpened,
  kActivity,
  kFork,
  kSignal,
  kForked,
  kForkEnded,
  kCommandSignal,
  kZygoteOffer,
  kFreeze,
  kMotion,
  kTreeKill,
  kTreeToKill,
  kLast
};

constexpr std::uint64_t kMaxBytes = 1ULL << 50U;
constexpr std::uint64_t kMaxCount = 1ULL << 22U;
constexpr std::size_t kMaxPath = 4096;
constexpr std::size_t kMaxBinds = 48;
constexpr std::uint64_t kMaxTerminal = 10'000;
constexpr std::uint64_t kMaxSignal = 64;
constexpr std::uint64_t kMaxLifetimeMs = 1ULL << 32U;
constexpr std::array kPlaces = {&os::GroupPlaces::memory, &os::GroupPlaces::cpu, &os::GroupPlaces::pids,
                                &os::GroupPlaces::processors};

WireWriter Tagged(Tag tag) {
  WireWriter writer;
  writer.Number(static_cast<std::uint64_t>(tag));
  return writer;
}

void Write(WireWriter& writer, const std::vector<HostBind>& binds) {
  writer.Number(binds.size());
  for (const HostBind& bind : binds)
    writer.Text(bind.source).Text(bind.target).Number(static_cast<std::uint64_t>(bind.access));
}

std::string EncodeOne(const StartRequest& message) {
  WireWriter writer = Tagged(Tag::kStart);
  writer.Number(static_cast<std::uint64_t>(message.isolation))
      .Number(static_cast<std::uint64_t>(message.workspace))
      .Text(message.workspace_path)
      .Number(static_cast<std::uint64_t>(message.workspace_owner))
      .Text(message.root_path)
      .Texts(message.hidden)
      .Text(message.scratch_path)
      .Number(message.pretend_missing.bits())
      .Number(static_cast<std::uint64_t>(message.demand));
  Write(writer, message.binds);
  return writer.Number(message.memory_bytes)
      .Number(message.pids)
      .Number(message.cpu_percent)
      .Number(message.open_files)
      .Number(message.file_bytes)
      .Number(message.tmp_bytes)
      .Number(message.disk_bytes)
      .Number(message.disk_inodes)
      .Take();
}

std::string EncodeOne(const ActivityRequest& message) {
  return Tagged(Tag::kActivity).Number(message.lifetime_ms).Take();
}

std::string EncodeOne(const ForkRequest& message) {
  return Tagged(Tag::kFork).Text(message.zygote).Take();
}

std::string EncodeOne(const SignalRequest& message) {
  return Tagged(Tag::kSignal).Number(message.pid).Number(message.signal).Take();
}

std::string EncodeOne(const Forked& message) {
  return Tagged(Tag::kForked).Number(message.pid).Text(message.why).Take();
}

std::string EncodeOne(const ForkEnded& message) {
  return Tagged(Tag::kForkEnded)
      .Number(message.pid)
      .Number(message.wait_status)
      .Number(message.cpu_microseconds)
      .Take();
}

std::string EncodeOne(const CommandSignal& message) {
  return Tagged(Tag::kCommandSignal).Number(message.id).Number(message.signal).Take();
}

std::string EncodeOne(const TreeKill& message) {
  return Tagged(Tag::kTreeKill).Number(message.id).Take();
}

std::string EncodeOne(const CommandRequest& message) {
  return Tagged(Tag::kCommand)
      .Number(message.id)
      .Number(message.terminal ? message.terminal->rows : 0)
      .Number(message.terminal ? message.terminal->columns : 0)
      .Text(message.directory)
      .Texts(message.arguments)
      .Texts(message.environment)
      .Take();
}

std::string EncodeOne(const UsageRequest&) {
  return Tagged(Tag::kUsageRequest).Take();
}

std::string EncodeOne(const FreezeRequest& message) {
  return Tagged(Tag::kFreeze).Number(static_cast<std::uint64_t>(message.wanted)).Take();
}

std::string EncodeOne(const Motion& message) {
  return Tagged(Tag::kMotion).Number(static_cast<std::uint64_t>(message.now)).Take();
}

std::string EncodeOne(const StopRequest&) {
  return Tagged(Tag::kStop).Take();
}

std::string EncodeOne(const Started& message) {
  WireWriter writer = Tagged(Tag::kStarted);
  writer.Number(message.init_pid).Number(message.counters.size());
  for (const std::uint64_t kind : message.counters) writer.Number(kind);
  for (const auto place : kPlaces)
    writer.Number(static_cast<std::uint64_t>((message.groups.*place).version)).Text((message.groups.*place).directory);
  return writer.Texts(message.degraded).Take();
}

std::string EncodeOne(const Failed& message) {
  return Tagged(Tag::kFailed).Number(static_cast<std::uint64_t>(message.code)).Text(message.message).Take();
}

WireWriter& Write(WireWriter& writer, const Usage& usage) {
  return writer.Number(usage.out_of_memory_kills)
      .Number(usage.memory_peak_bytes)
      .Number(usage.forks_refused)
      .Number(usage.times_throttled);
}

std::string EncodeOne(const Usage& message) {
  WireWriter writer = Tagged(Tag::kUsage);
  return Write(writer, message).Take();
}

std::string EncodeOne(const Ended& message) {
  WireWriter writer = Tagged(Tag::kEnded);
  return Write(writer, message.usage).Number(message.processes_left).Take();
}

std::string EncodeOne(const CommandEnded& message) {
  return Tagged(Tag::kCommandEnded)
      .Number(message.id)
      .Number(message.start_error)
      .Number(static_cast<std::uint64_t>(message.failed_step))
      .Number(message.wait_status)
      .Number(message.user_microseconds)
      .Number(message.system_microseconds)
      .Take();
}

std::string EncodeOne(const TerminalOpened& message) {
  return Tagged(Tag::kTerminalOpened).Number(message.id).Take();
}

std::string EncodeOne(const TreeToKill& message) {
  return Tagged(Tag::kTreeToKill).Number(message.pid).Take();
}

bool AbsolutePath(std::string_view path) {
  return path.starts_with('/') && path.size() < kMaxPath && path.find('\0') == std::string_view::npos;
}

// A path as programs see it, which cannot lead anywhere else.
bool PathInside(std::string_view path) {
  if (!AbsolutePath(path) || path.size() == 1 || path.ends_with('/')) return false;
  const std::string bordered = std::string(path) + "/";
  return bordered.find("//") == std::string::npos && bordered.find("/./") == std::string::npos &&
         bordered.find("/../") == std::string::npos;
}

bool Sensible(const StartRequest& request) {
  if (request.workspace == WorkspaceKind::kEmpty ? !request.workspace_path.empty()
                                                 : !AbsolutePath(request.workspace_path))
    return false;
  if (!request.root_path.empty() && !AbsolutePath(request.root_path)) return false;
  const auto fits = [](const HostBind& bind) { return AbsolutePath(bind.source) && PathInside(bind.target); };
  if (!std::ranges::all_of(request.binds, fits) || !std::ranges::all_of(request.hidden, PathInside)) return false;
  if (request.isolation == Isolation::kNamespaces) return request.scratch_path.empty();
  // Without namespaces there is nothing to mount.
  return AbsolutePath(request.scratch_path) && request.workspace == WorkspaceKind::kDirect && request.binds.empty() &&
         request.hidden.empty() && request.root_path.empty();
}

std::vector<HostBind> ReadBinds(WireReader& reader) {
  std::vector<HostBind> binds;
  const std::uint64_t count = reader.NumberUpTo(kMaxBinds);
  for (std::uint64_t i = 0; i < count; ++i) {
    HostBind bind;
    bind.source = reader.Text();
    bind.target = reader.Text();
    bind.access = static_cast<os::Access>(reader.NumberUpTo(static_cast<std::uint64_t>(os::Access::kReadWrite)));
    binds.push_back(std::move(bind));
  }
  return binds;
}

std::optional<ToLauncher> DecodeStart(WireReader reader) {
  StartRequest request;
  request.isolation = static_cast<Isolation>(reader.NumberUpTo(static_cast<std::uint64_t>(Isolation::kNone)));
  request.workspace = static_cast<WorkspaceKind>(reader.NumberUpTo(static_cast<std::uint64_t>(WorkspaceKind::kDirect)));
  request.workspace_path = reader.Text();
  request.workspace_owner =
      static_cast<WorkspaceOwner>(reader.NumberUpTo(static_cast<std::uint64_t>(WorkspaceOwner::kPerson)));
  request.root_path = reader.Text();
  request.hidden = reader.Texts();
  request.scratch_path = reader.Text();
  request.pretend_missing = base::FeatureSet::FromBits(reader.NumberUpTo(base::FeatureSet::kAllBits));
  request.demand = static_cast<Demand>(reader.NumberUpTo(static_cast<std::uint64_t>(Demand::kEverything)));
  request.binds = ReadBinds(reader);
  request.memory_bytes = reader.NumberUpTo(kMaxBytes);
  request.pids = reader.NumberUpTo(kMaxCount);
  request.cpu_percent = reader.NumberUpTo(kMaxCount);
  request.open_files = reader.NumberUpTo(kMaxCount);
  request.file_bytes = reader.NumberUpTo(kMaxBytes);
  request.tmp_bytes = reader.NumberUpTo(kMaxBytes);
  request.disk_bytes = reader.NumberUpTo(kMaxBytes);
  request.disk_inodes = reader.NumberUpTo(kMaxBytes);
  if (!reader.Complete() || !Sensible(request)) return std::nullopt;
  return request;
}

std::optional<ToLauncher> DecodeActivity(WireReader reader) {
  const ActivityRequest request{reader.NumberUpTo(kMaxLifetimeMs)};
  return reader.Complete() ? std::optional<ToLauncher>(request) : std::nullopt;
}

std::optional<ToLauncher> DecodeFork(WireReader reader) {
  ForkRequest request{std::string(reader.Text())};
  return reader.Complete() ? std::optional<ToLauncher>(std::move(request)) : std::nullopt;
}

std::optional<ToLauncher> DecodeSignal(WireReader reader) {
  const SignalRequest request{reader.NumberUpTo(kMaxCount), reader.NumberUpTo(kMaxSignal)};
  return reader.Complete() && request.pid > 1 ? std::optional<ToLauncher>(request) : std::nullopt;
}

std::optional<ToLauncher> DecodeFreeze(WireReader reader) {
  const FreezeRequest request{
      static_cast<MotionKind>(reader.NumberUpTo(static_cast<std::uint64_t>(MotionKind::kFrozen)))};
  return reader.Complete() ? std::optional<ToLauncher>(request) : std::nullopt;
}

std::optional<FromLauncher> DecodeMotion(WireReader reader) {
  const Motion message{static_cast<MotionKind>(reader.NumberUpTo(static_cast<std::uint64_t>(MotionKind::kUnable)))};
  return reader.Complete() ? std::optional<FromLauncher>(message) : std::nullopt;
}

std::optional<FromLauncher> DecodeForked(WireReader reader) {
  Forked message;
  message.pid = reader.NumberUpTo(kMaxCount);
  message.why = reader.Text();
  return reader.Complete() ? std::optional<FromLauncher>(std::move(message)) : std::nullopt;
}

std::optional<FromLauncher> DecodeForkEnded(WireReader reader) {
  const ForkEnded message{reader.NumberUpTo(kMaxCount), reader.NumberUpTo(0xFFFF), reader.Number()};
  return reader.Complete() ? std::optional<FromLauncher>(message) : std::nullopt;
}

os::GroupPlace ReadPlace(WireReader& reader) {
  const auto version =
      static_cast<os::CgroupVersion>(reader.NumberUpTo(static_cast<std::uint64_t>(os::CgroupVersion::kTwo)));
  return {version, std::string(reader.Text())};
}

std::optional<FromLauncher> DecodeStarted(WireReader reader) {
  Started message;
  message.init_pid = reader.NumberUpTo(kMaxCount);
  const std::uint64_t counters = reader.NumberUpTo(os::CgroupCounters::kKinds);
  for (std::uint64_t i = 0; i < counters; ++i)
    message.counters.push_back(reader.NumberUpTo(os::CgroupCounters::kKinds - 1));
  for (const auto place : kPlaces) message.groups.*place = ReadPlace(reader);
  message.degraded = reader.Texts();
  const auto fits = [&](const auto place) {
    const os::GroupPlace& one = message.groups.*place;
    return !one.Counts() || AbsolutePath(one.directory);
  };
  if (!reader.Complete() || !std::ranges::all_of(kPlaces, fits)) return std::nullopt;
  return message;
}

std::optional<FromLauncher> DecodeFailed(WireReader reader) {
  Failed message;
  message.code = static_cast<base::Code>(reader.NumberUpTo(static_cast<std::uint64_t>(base::Code::kInternal)));
  message.message = reader.Text();
  if (!reader.Complete()) return std::nullopt;
  return message;
}

Usage ReadUsage(WireReader& reader) {
  Usage usage;
  usage.out_of_memory_kills = reader.Number();
  usage.memory_peak_bytes = reader.Number();
  usage.forks_refused = reader.Number();
  usage.times_throttled = reader.Number();
  return usage;
}

std::optional<FromLauncher> DecodeUsage(WireReader reader) {
  const Usage usage = ReadUsage(reader);
  return reader.Complete() ? std::optional<FromLauncher>(usage) : std::nullopt;
}

std::optional<FromLauncher> DecodeEnded(WireReader reader) {
  Ended message;
  message.usage = ReadUsage(reader);
  message.processes_left = reader.Number();
  return reader.Complete() ? std::optional<FromLauncher>(message) : std::nullopt;
}

std::optional<FromInit> DecodeCommandEnded(WireReader reader) {
  CommandEnded message;
  message.id = reader.Number();
  message.start_error = reader.NumberUpTo(4095);
  message.failed_step = static_cast<StartStep>(reader.NumberUpTo(static_cast<std::uint64_t>(StartStep::kDirectory)));
  message.wait_status = reader.NumberUpTo(0xFFFF);
  message.user_microseconds = reader.Number();
  message.system_microseconds = reader.Number();
  if (!reader.Complete()) return std::nullopt;
  return message;
}

bool HasNul(const std::vector<std::string>& texts) {
  return std::ranges::any_of(texts, [](const std::string& text) { return text.find('\0') != std::string::npos; });
}

std::optional<ToInit> DecodeCommand(WireReader reader) {
  CommandRequest message;
  message.id = reader.Number();
  const TerminalSize terminal{reader.NumberUpTo(kMaxTerminal), reader.NumberUpTo(kMaxTerminal)};
  if ((terminal.rows == 0) != (terminal.columns == 0)) return std::nullopt;
  if (terminal.rows != 0) message.terminal = terminal;
  message.directory = reader.Text();
  message.arguments = reader.Texts();
  message.environment = reader.Texts();
  if (!reader.Complete() || message.arguments.empty() || !AbsolutePath(message.directory)) return std::nullopt;
  if (HasNul(message.arguments) || HasNul(message.environment)) return std::nullopt;
  return message;
}

}  // namespace

std::string Encode(const ToLauncher& message) {
  return std::visit([](const auto& one) { return EncodeOne(one); }, message);
}

std::string Encode(const FromLauncher& message) {
  return std::visit([](const auto& one) { return EncodeOne(one); }, message);
}

std::string Encode(const FromInit& message) {
  return std::visit([](const auto& one) { return EncodeOne(one); }, message);
}

std::string Encode(const ToInit& message) {
  return std::visit([](const auto& one) { return EncodeOne(one); }, message);
}

std::string Encode(const ZygoteOffer& message) {
  return Tagged(Tag::kZygoteOffer).Text(message.name).Texts(message.arguments).Texts(message.environment).Take();
}

std::optional<ToLauncher> DecodeToLauncher(std::string_view bytes) {
  WireReader reader(bytes);
  switch (static_cast<Tag>(reader.NumberUpTo(static_cast<std::uint64_t>(Tag::kLast)))) {
    case Tag::kStart:
      return DecodeStart(reader);
    case Tag::kActivity:
      return DecodeActivity(reader);
    case Tag::kFork:
      return DecodeFork(reader);
    case Tag::kSignal:
      return DecodeSignal(reader);
    case Tag::kUsageRequest:
      return reader.Complete() ? std::optional<ToLauncher>(UsageRequest{}) : std::nullopt;
    case Tag::kFreeze:
      return DecodeFreeze(reader);
    case Tag::kStop:
      return reader.Complete() ? std::optional<ToLauncher>(StopRequest{}) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<FromLauncher> DecodeFromLauncher(std::string_view bytes) {
  WireReader reader(bytes);
  switch (static_cast<Tag>(reader.NumberUpTo(static_cast<std::uint64_t>(Tag::kLast)))) {
    case Tag::kStarted:
      return DecodeStarted(reader);
    case Tag::kFailed:
      return DecodeFailed(reader);
    case Tag::kForked:
      return DecodeForked(reader);
    case Tag::kForkEnded:
      return DecodeForkEnded(reader);
    case Tag::kUsage:
      return DecodeUsage(reader);
    case Tag::kMotion:
      return DecodeMotion(reader);
    case Tag::kEnded:
      return DecodeEnded(reader);
    default:
      return std::nullopt;
  }
}

std::optional<ToInit> DecodeToInit(std::string_view bytes) {
  WireReader reader(bytes);
  switch (static_cast<Tag>(reader.NumberUpTo(static_cast<std::uint64_t>(Tag::kLast)))) {
    case Tag::kCommand:
      return DecodeCommand(reader);
    case Tag::kCommandSignal: {
      const CommandSignal message{reader.Number(), reader.NumberUpTo(kMaxSignal)};
      return reader.Complete() ? std::optional<ToInit>(message) : std::nullopt;
    }
    case Tag::kTreeKill: {
      const TreeKill message{reader.Number()};
      return reader.Complete() ? std::optional<ToInit>(message) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::optional<ZygoteOffer> DecodeZygoteOffer(std::string_view bytes) {
  WireReader reader(bytes);
  if (reader.Number() != static_cast<std::uint64_t>(Tag::kZygoteOffer)) return std::nullopt;
  ZygoteOffer offer;
  offer.name = reader.Text();
  offer.arguments = reader.Texts();
  offer.environment = reader.Texts();
  if (!reader.Complete() || offer.arguments.empty() || !AbsolutePath(offer.arguments.front())) return std::nullopt;
  if (HasNul(offer.arguments) || HasNul(offer.environment)) return std::nullopt;
  return offer;
}

std::optional<FromInit> DecodeFromInit(std::string_view bytes) {
  WireReader reader(bytes);
  switch (static_cast<Tag>(reader.NumberUpTo(static_cast<std::uint64_t>(Tag::kLast)))) {
    case Tag::kCommandEnded:
      return DecodeCommandEnded(reader);
    case Tag::kTerminalOpened: {
      const TerminalOpened message{reader.Number()};
      return reader.Complete() ? std::optional<FromInit>(message) : std::nullopt;
    }
    case Tag::kTreeToKill: {
      const TreeToKill message{reader.NumberUpTo(kMaxCount)};
      return reader.Complete() && message.pid > 1 ? std::optional<FromInit>(message) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace skerry::launcher
