// Audited: how requests on a route come into the audit. Every route says it, so that none is forgotten.
#pragma once

#include <array>
#include <string_view>

namespace skerry::transport::v1 {

struct Audited {
  enum class How {
    kNot,     // it changes nothing, and hands out nothing that is in files
    kWithin,  // recorded by what it does: a run, an export, an approval, a token, the making or the end of a session
    kFirst,   // before it is done; what cannot be recorded is not done
    kAnyway,  // before it is done, which a record that cannot be written does not prevent: it ends or frees something
  };
  enum class Content { kNone, kCounted, kHashed };

  How how = How::kNot;
  std::string_view event;
  // What is told by its value: names, never variables or the content of files.
  std::array<std::string_view, 2> query{};   // parameters
  std::array<std::string_view, 2> fields{};  // of the JSON body
  Content content = Content::kNone;          // of the body: nothing, its size, its size and SHA-256
};

inline constexpr Audited kUnrecorded{};
inline constexpr Audited kExport{.how = Audited::How::kWithin, .event = "files.exported"};
inline constexpr Audited kRunBegins{.how = Audited::How::kWithin, .event = "run.began"};

}  // namespace skerry::transport::v1
