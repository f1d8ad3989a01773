#include "transport/kit/multipart.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/utf8.hpp"
#include "os/errno_error.hpp"
#include "transport/http/text.hpp"
#include "transport/kit/header_parameters.hpp"

namespace skerry::transport::kit {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10U;
constexpr std::size_t kLongestBoundary = 70;
constexpr std::size_t kLongestName = 256;
constexpr std::size_t kLongestFileName = 4096;
constexpr std::size_t kMostFields = 16;

std::unexpected<base::Error> Bad(const std::string& what) {
  return base::Err(base::Code::kInvalidArgument, "multipart/form-data: " + what);
}

// RFC 2046 "bchars", without the blank.
bool IsBoundary(std::string_view text) {
  return !text.empty() && text.size() <= kLongestBoundary && std::ranges::all_of(text, [](char letter) {
    return http::IsLetterOrDigit(letter) || std::string_view("'()+_,-./:=?").contains(letter);
  });
}

bool IsControl(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte < 0x20 || byte == 0x7f;
}

bool IsPlainText(std::string_view text) {
  return base::IsValidUtf8(text) && std::ranges::none_of(text, IsControl);
}

std::string LastName(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return name == "." || name == ".." ? "" : std::string(name);
}

int HexDigit(char letter) {
  if (http::IsDigit(letter)) return letter - '0';
  const char lower = http::LowerOf(letter);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// RFC 8187: UTF-8''na%C3%AFve.
base::Result<std::string> ExtendedValue(std::string_view text) {
  constexpr std::string_view kCharset = "utf-8'";
  const std::size_t language = text.find('\'', kCharset.size());
  if (!http::EqualsIgnoringCase(text.substr(0, kCharset.size()), kCharset) || language == std::string_view::npos)
    return Bad("filename* is not in UTF-8");
  std::string value;
  for (text.remove_prefix(language + 1); !text.empty(); text.remove_prefix(1)) {
    if (text.front() != '%') {
      value += text.front();
      continue;
    }
    const int high = text.size() > 2 ? HexDigit(text[1]) : -1;
    const int low = text.size() > 2 ? HexDigit(text[2]) : -1;
    if (high < 0 || low < 0) return Bad("a % in filename* is not followed by two digits");
    value += static_cast<char>(high * 16 + low);
    text.remove_prefix(2);
  }
  return value;
}

base::Status TakeDisposition(std::string_view text, FormPart& part) {
  SKERRY_ASSIGN_OR_RETURN(const ParameterizedValue value, ParseParameters(text));
  if (value.word != "form-data") return Bad("a part is no form-data");
  const auto name = value.Find("name");
  if (!name || name->empty() || name->size() > kLongestName || !IsPlainText(*name))
    return Bad("a part has no proper name");
  part.name = *name;
  auto file = value.Find("filename");
  // Some clients send both forms; the plain one is then for servers that do not know the extended one (RFC 6266, 4.3).
  if (const auto extended = value.Find("filename*")) {
    SKERRY_ASSIGN_OR_RETURN(file, ExtendedValue(*extended));
  }
  if (!file) return {};
  if (file->size() > kLongestFileName || !IsPlainText(*file)) return Bad("a file has no proper name");
  part.file_name = LastName(*file);
  part.sent_name = *std::move(file);
  return {};
}

base::Status TakeField(std::string_view line, FormPart& part) {
  const std::size_t colon = std::min(line.find(':'), line.size());
  const std::string_view name = line.substr(0, colon);
  if (colon == line.size() || !http::IsToken(name)) return Bad("a header of a part has no proper name");
  const std::string_view value = http::Trim(line.substr(colon + 1));
  if (std::ranges::any_of(value, [](char letter) { return IsControl(letter) && letter != '\t'; }))
    return Bad("a control character in a header of a part");
  if (http::EqualsIgnoringCase(name, "Content-Disposition")) {
    if (!part.name.empty()) return Bad("a part has two Content-Dispositions");
    return TakeDisposition(value, part);
  }
  if (http::EqualsIgnoringCase(name, "Content-Type")) {
    if (!part.type.empty()) return Bad("a part has two Content-Types");
    part.type = value;
  }
  const bool plain = http::EqualsIgnoringCase(value, "binary") || http::EqualsIgnoringCase(value, "8bit") ||
                     http::EqualsIgnoringCase(value, "7bit");
  if (http::EqualsIgnoringCase(name, "Content-Transfer-Encoding") && !plain)
    return Bad("a part is encoded; send its bytes as they are");
  return {};
}

base::Result<FormPart> ParsePartHead(std::string_view text) {
  FormPart part;
  std::size_t fields = 0;
  while (!text.empty()) {
    const std::size_t end = text.find("\r\n");
    SKERRY_RETURN_IF_ERROR(TakeField(text.substr(0, end), part));
    if (++fields > kMostFields) return base::Err(base::Code::kTooLarge, "multipart/form-data: too many headers");
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  }
  if (part.name.empty()) return Bad("a part has no Content-Disposition");
  return part;
}

}  // namespace

base::Result<MultipartReader> MultipartReader::Open(const http::Request& request, const MultipartLimits& limits) {
  const auto type = request.head.headers.Find("Content-Type");
  if (!type || request.head.headers.Count("Content-Type") != 1) return Bad("there is no one Content-Type");
  SKERRY_ASSIGN_OR_RETURN(const ParameterizedValue value, ParseParameters(*type));
  const auto boundary = value.Find("boundary");
  if (value.word != "multipart/form-data" || !boundary) return Bad("the body is of another type, or has no boundary");
  if (!IsBoundary(*boundary)) return Bad("the boundary is none");
  return MultipartReader(request.body, *boundary, limits);
}

MultipartReader::MultipartReader(const http::Body& body, const std::string& boundary, const MultipartLimits& limits)
    : limits_(limits), delimiter_("\r\n--" + boundary), from_file_(body.file.valid()) {
  if (!from_file_) memory_ = body.bytes;
  file_ = body.file.get();
  file_size_ = body.size;
}

base::Status MultipartReader::Fill() {
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t kept = buffer_.size();
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, file_size_ - file_offset_));
  buffer_.resize(kept + wanted);
  ssize_t got = -1;
  do {
    got = ::pread(file_, buffer_.data() + kept, wanted, static_cast<off_t>(file_offset_));
  } while (got < 0 && errno == EINTR);
  buffer_.resize(kept + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0) return os::ErrnoErr("read the body");
  if (got == 0) return base::Err(base::Code::kInternal, "the body is shorter than it was");
  file_offset_ += static_cast<std::uint64_t>(got);
  return {};
}

base::Status MultipartReader::Have(std::size_t bytes) {
  while (window().size() < bytes && !IsRead()) SKERRY_RETURN_IF_ERROR(Fill());
  return {};
}

base::Result<bool> MultipartReader::Skip(std::string_view text) {
  SKERRY_RETURN_IF_ERROR(Have(text.size()));
  if (!window().starts_with(text)) return false;
  at_ += text.size();
  return true;
}

base::Result<std::optional<FormPart>> MultipartReader::Next() {
  if (failure_) return std::unexpected(*failure_);
  auto part = TakePart();
  if (!part) failure_ = part.error();
  return part;
}

base::Result<std::string_view> MultipartReader::Read() {
  if (failure_) return std::unexpected(*failure_);
  auto piece = TakePiece();
  if (!piece) failure_ = piece.error();
  return piece;
}

base::Result<std::optional<FormPart>> MultipartReader::TakePart() {
  if (place_ == Place::kEnd) return std::nullopt;
  if (place_ == Place::kBegin) {
    SKERRY_ASSIGN_OR_RETURN(const bool begins, Skip(std::string_view(delimiter_).substr(2)));
    if (!begins) return Bad("the body does not begin with its boundary");
    place_ = Place::kBetween;
  }
  while (place_ == Place::kContent) SKERRY_RETURN_IF_ERROR(TakePiece());
  SKERRY_ASSIGN_OR_RETURN(const bool another, Skip("\r\n"));
  if (another) {
    SKERRY_ASSIGN_OR_RETURN(FormPart part, TakeHead());
    return part;
  }
  SKERRY_ASSIGN_OR_RETURN(const bool last, Skip("--"));
  if (!last) return Bad("something stands behind a boundary");
  SKERRY_RETURN_IF_ERROR(Skip("\r\n"));
  if (!window().empty() || !IsRead()) return Bad("something stands behind the last part");
  place_ = Place::kEnd;
  return std::nullopt;
}

base::Result<FormPart> MultipartReader::TakeHead() {
  constexpr std::string_view kEmptyLine = "\r\n\r\n";
  if (++parts_ > limits_.parts) return base::Err(base::Code::kTooLarge, "multipart/form-data: too many parts");
  SKERRY_RETURN_IF_ERROR(Have(limits_.header_bytes));
  const std::size_t end = window().substr(0, limits_.header_bytes).find(kEmptyLine);
  if (end == std::string_view::npos) {
    if (window().size() < limits_.header_bytes) return Bad("the headers of a part do not end");
    return base::Err(base::Code::kTooLarge, "multipart/form-data: the headers of a part are too large");
  }
  SKERRY_ASSIGN_OR_RETURN(FormPart part, ParsePartHead(window().substr(0, end)));
  at_ += end + kEmptyLine.size();
  // Some readers take this for a part without content, others for content that begins with a boundary.
  SKERRY_ASSIGN_OR_RETURN(const bool unclear, Skip(std::string_view(delimiter_).substr(2)));
  if (unclear) return Bad("a boundary where the content of a part should begin");
  place_ = Place::kContent;
  part_read_ = 0;
  return part;
}

base::Result<std::string_view> MultipartReader::TakePiece() {
  if (place_ != Place::kContent) return std::string_view();
  SKERRY_RETURN_IF_ERROR(Have(delimiter_.size() + 1));
  std::size_t end = window().find(delimiter_);
  if (end == 0) {
    at_ += delimiter_.size();
    place_ = Place::kBetween;
    return std::string_view();
  }
  if (end == std::string_view::npos) {
    if (IsRead()) return Bad("a part does not end");
    // The delimiter may begin at the end of the window.
    end = window().size() - (delimiter_.size() - 1);
  }
  const std::string_view piece = window().substr(0, end);
  part_read_ += piece.size();
  if (part_read_ > limits_.part_bytes)
    return base::Err(base::Code::kTooLarge, "multipart/form-data: a part is too large");
  at_ += piece.size();
  return piece;
}

base::Result<std::string> MultipartReader::ReadAll(std::size_t most) {
  std::string content;
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const std::string_view piece, Read());
    if (piece.empty()) return content;
    if (piece.size() > most - content.size())
      return base::Err(base::Code::kTooLarge, "multipart/form-data: a part is too large");
    content += piece;
  }
}

}  // namespace skerry::transport::kit
