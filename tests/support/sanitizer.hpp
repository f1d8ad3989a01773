// The sanitizer that a test was built with: what it cannot do is skipped by name, with the reason.
#pragma once

namespace skerry::support {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool kHasThreadSanitizer = true;
#else
inline constexpr bool kHasThreadSanitizer = false;
#endif
// A sanitizer that takes memory of its own: the memory of a test then says nothing.
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
inline constexpr bool kHasSanitizer = true;
#else
inline constexpr bool kHasSanitizer = false;
#endif
#else
inline constexpr bool kHasThreadSanitizer = false;
inline constexpr bool kHasSanitizer = false;
#endif

}  // namespace skerry::support
