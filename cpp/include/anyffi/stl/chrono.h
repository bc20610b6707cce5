/// \file
/// Conversions of std::chrono::duration: a number of seconds.
#ifndef ANYFFI_STL_CHRONO_H_
#define ANYFFI_STL_CHRONO_H_

#include <anyffi/error.h>

#include <chrono>

namespace anyffi {

/// Accepts seconds as an int, which must be a whole number of ticks, or as a float, which is rounded to the nearest
/// tick as by `round`. OverflowError if the duration cannot hold it, ValueError for NaN. A result is an int if a tick
/// is a whole number of seconds, else a float.
template <class Rep, class Period>
struct Traits<std::chrono::duration<Rep, Period>> {
  static_assert(std::is_signed_v<Rep>, "anyffi: the Rep of a duration must be signed");
  using Duration = std::chrono::duration<Rep, Period>;
  static constexpr bool kWhole = Period::den == 1 && std::is_integral_v<Rep>;
  static constexpr FixedText name{"float"};
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  using Holder = Duration;
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    double seconds;
    if (!Traits<double>::load(given, seconds, why)) return false;
    const AnyffiValue& value = detail::unboxed(given);
    if constexpr (std::is_floating_point_v<Rep>) {
      holder = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
      return true;
    } else {
      if (seconds != seconds)
        return detail::refuse(why, value, name, ANYFFI_MISMATCH_VALUE, "a duration cannot be NaN");
      if (value.type_code != ANYFFI_FLOAT) {
        int64_t whole;
        return Traits<int64_t>::load(given, whole, why) ? load_whole(value, whole, holder, why) : too_large(value, why);
      }
      double ticks = __builtin_rint(seconds * Period::den / Period::num);
      // The limits as double: the upper one is the first that is too large.
      constexpr double kEnd = static_cast<double>(uint64_t{1} << (sizeof(Rep) * 8 - 2)) * 2;
      if (ticks < -kEnd || ticks >= kEnd) return too_large(value, why);
      holder = Duration(static_cast<Rep>(ticks));
      return true;
    }
  }
  static Duration take(Holder& holder) { return holder; }
  static AnyffiValue store(const Duration& duration) {
    if constexpr (kWhole) {
      int64_t seconds;
      if (__builtin_mul_overflow(static_cast<int64_t>(duration.count()), int64_t{Period::num}, &seconds)) {
        throw Error("OverflowError", "a duration does not fit int64 as seconds");
      }
      return Traits<int64_t>::store(seconds);
    } else {
      return Traits<double>::store(static_cast<double>(duration.count()) * Period::num / Period::den);
    }
  }

 private:
  static bool load_whole(const AnyffiValue& value, int64_t seconds, Holder& holder, AnyffiMismatch& why) {
    int64_t ticks;
    if (seconds % Period::num != 0) {
      return detail::refuse(why, value, name, ANYFFI_MISMATCH_VALUE, "not a whole number of the duration's ticks");
    }
    if (__builtin_mul_overflow(seconds / Period::num, int64_t{Period::den}, &ticks) ||
        static_cast<Rep>(ticks) != ticks) {
      return too_large(value, why);
    }
    holder = Duration(static_cast<Rep>(ticks));
    return true;
  }
  static bool too_large(const AnyffiValue& value, AnyffiMismatch& why) {
    return detail::refuse(why, value, name, ANYFFI_MISMATCH_RANGE, "the duration");
  }
};

namespace detail {
template <class T>
inline constexpr bool kIncludes<Missing::kChrono, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_CHRONO_H_
