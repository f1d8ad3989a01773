// The sanitizer that a test was built with: what it cannot do is skipped by name, with the reason.
#pragma once

namespace skerry::support {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool kHasThreadSanitizer = true;
#else
inline constexpr bool kHasThreadSanitizer = false;
#endif
#else
inline constexpr bool kHasThreadSanitizer = false;
#endif

}  // namespace skerry::support
