#include "launcher/fork_order.hpp"

#include "launcher/wire.hpp"

namespace skerry::launcher {
namespace {

constexpr std::uint64_t kOrderTag = 101;
constexpr std::uint64_t kAnswerTag = 102;
constexpr std::uint64_t kMaxPid = 1ULL << 22U;
constexpr std::uint64_t kMaxErrno = 4095;
constexpr std::uint64_t kMaxAbi = 1000;
constexpr std::uint64_t kMaxMode = 07777;

}  // namespace

std::string Encode(const ForkOrder& order) {
  return WireWriter()
      .Number(kOrderTag)
      .Number(order.limits.open_files)
      .Number(order.limits.file_bytes)
      .Number(order.limits.processes)
      .Number(order.limits.data_bytes)
      .Number(order.filter.refused_mode_bits)
      .Number(static_cast<std::uint64_t>(order.filter.unmapped_memory))
      .Number(static_cast<std::uint64_t>(order.landlock_abi))
      .Take();
}

std::string Encode(const ForkAnswer& answer) {
  return WireWriter().Number(kAnswerTag).Number(answer.pid).Number(answer.error).Take();
}

std::optional<ForkOrder> DecodeForkOrder(std::string_view bytes) {
  using Unmapped = os::FilterOptions::UnmappedMemory;
  WireReader reader(bytes);
  if (reader.Number() != kOrderTag) return std::nullopt;
  ForkOrder order;
  order.limits.open_files = reader.Number();
  order.limits.file_bytes = reader.Number();
  order.limits.processes = reader.Number();
  order.limits.data_bytes = reader.Number();
  order.filter.refused_mode_bits = static_cast<std::uint32_t>(reader.NumberUpTo(kMaxMode));
  order.filter.unmapped_memory =
      static_cast<Unmapped>(reader.NumberUpTo(static_cast<std::uint64_t>(Unmapped::kNotCounted)));
  order.landlock_abi = static_cast<int>(reader.NumberUpTo(kMaxAbi));
  return reader.Complete() ? std::optional(order) : std::nullopt;
}

std::optional<ForkAnswer> DecodeForkAnswer(std::string_view bytes) {
  WireReader reader(bytes);
  if (reader.Number() != kAnswerTag) return std::nullopt;
  const ForkAnswer answer{reader.NumberUpTo(kMaxPid), reader.NumberUpTo(kMaxErrno)};
  return reader.Complete() ? std::optional(answer) : std::nullopt;
}

}  // namespace skerry::launcher
