#include "archive/pax_records.hpp"

#include <charconv>
#include <limits>

namespace skerry::archive {
namespace {

std::unexpected<base::Error> Damaged() {
  return base::Err(base::Code::kInvalidArgument, "the archive is damaged: an extended header cannot be read");
}

template <class Number>
base::Result<Number> ParseDecimal(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return Damaged();
  return value;
}

// `1700000000.25`, maybe negative. Digits below a nanosecond are dropped.
base::Result<timespec> ParseTime(std::string_view text) {
  const std::size_t dot = text.find('.');
  SKERRY_ASSIGN_OR_RETURN(const auto seconds, ParseDecimal<std::int64_t>(text.substr(0, dot)));
  timespec time{.tv_sec = seconds, .tv_nsec = 0};
  if (dot == std::string_view::npos) return time;
  std::string digits(text.substr(dot + 1, 9));
  if (digits.find_first_not_of("0123456789") != std::string::npos) return Damaged();
  digits.resize(9, '0');
  SKERRY_ASSIGN_OR_RETURN(time.tv_nsec, ParseDecimal<long>(digits));
  if (text.front() == '-' && time.tv_nsec > 0 && time.tv_sec > std::numeric_limits<std::int64_t>::min()) {
    time.tv_sec -= 1;
    time.tv_nsec = 1'000'000'000 - time.tv_nsec;
  }
  return time;
}

base::Status SetName(std::optional<std::string>& name, std::string_view value) {
  if (name) return base::Err(base::Code::kInvalidArgument, "the archive gives two names to one entry");
  if (value.find('\0') != std::string_view::npos)
    return base::Err(base::Code::kInvalidArgument, "the archive has a name with a zero byte in it");
  name = std::string(value);
  return {};
}

base::Status Apply(PaxRecords& records, std::string_view key, std::string_view value) {
  if (key.starts_with("GNU.sparse."))
    return base::Err(base::Code::kInvalidArgument,
                     "the archive holds a sparse file, which is not read here; make it without --sparse");
  if (value.empty()) return {};  // "as if it were not there", says POSIX
  if (key == "path") return SetName(records.path, value);
  if (key == "linkpath") return SetName(records.link_path, value);
  if (key == "size") {
    if (records.size) return Damaged();
    SKERRY_ASSIGN_OR_RETURN(records.size, ParseDecimal<std::uint64_t>(value));
  } else if (key == "mtime") {
    SKERRY_ASSIGN_OR_RETURN(records.mtime, ParseTime(value));
  }
  return {};
}

// Takes the first record off `text`: the part behind its length, without the newline.
base::Result<std::string_view> TakeRecord(std::string_view& text) {
  const std::size_t space = text.substr(0, 20).find(' ');
  if (space == std::string_view::npos) return Damaged();
  SKERRY_ASSIGN_OR_RETURN(const auto length, ParseDecimal<std::uint64_t>(text.substr(0, space)));
  if (length < space + 2 || length > text.size() || text[length - 1] != '\n') return Damaged();
  const std::string_view record = text.substr(space + 1, length - space - 2);
  text.remove_prefix(length);
  return record;
}

}  // namespace

base::Result<PaxRecords> ParsePaxRecords(std::string_view text) {
  PaxRecords records;
  while (!text.empty()) {
    SKERRY_ASSIGN_OR_RETURN(const std::string_view record, TakeRecord(text));
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos || equals == 0) return Damaged();
    SKERRY_RETURN_IF_ERROR(Apply(records, record.substr(0, equals), record.substr(equals + 1)));
  }
  return records;
}

}  // namespace skerry::archive
