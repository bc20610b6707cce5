/// \file
/// Conversions of std::chrono::duration and of times of the system clock: Python's timedelta and datetime.
#ifndef ANYFFI_STL_CHRONO_H_
#define ANYFFI_STL_CHRONO_H_

#include <anyffi/container/sequence.h>
#include <anyffi/detail/host_items.h>
#include <anyffi/detail/items_writer.h>

#include <chrono>

namespace anyffi {

namespace detail {

/// A number of nanoseconds, wide enough for all of Python's times and durations.
__extension__ typedef __int128 WideInt;  // NOLINT: `using` has no place for it

/// From seconds and nanoseconds.
inline WideInt join_nanoseconds(const AnyffiValue* numbers) {
  return static_cast<WideInt>(numbers[0].as_int) * 1000000000 + numbers[1].as_int;
}

/// Reads a time or duration of the host; false, with `why`, if the value is neither.
__attribute__((noinline)) inline bool load_nanoseconds(const AnyffiValue& value, int32_t conversion, const char* name,
                                                       WideInt& out, AnyffiMismatch& why) {
  if (is_items_of(value, ANYFFI_PY_OBJECT, ANYFFI_PY_OBJECT)) {
    HostItems<2> numbers(value, conversion);
    numbers.read();
    if (!numbers.is_whole(2)) return refuse_items(why, name);
    out = join_nanoseconds(numbers.begin());
    return true;
  }
  AnyValue parts;
  if (!convert_to(value, conversion, ANYFFI_LIST, name, parts, why)) return false;
  out = join_nanoseconds(reinterpret_cast<const AnyffiSequence*>(parts.raw().as_object)->data);
  return true;
}

/// OverflowError beyond int64.
inline AnyffiValue make_microseconds(WideInt count) {
  if (static_cast<int64_t>(count) != count) throw Error("OverflowError", "a duration is longer than 292,000 years");
  return anyffi_make_int(static_cast<int64_t>(count));
}

/// The host's time or duration for a number of microseconds.
__attribute__((noinline)) inline AnyffiValue store_microseconds(WideInt count, int32_t conversion) {
  AnyffiValue from = make_microseconds(count), created;
  check(anyffi_value_create_host(conversion, &from, &created));
  return created;
}

constexpr WideInt greatest_divisor(WideInt a, WideInt b) { return b == 0 ? a : greatest_divisor(b, a % b); }

/// Division, which rounds toward zero, by a positive divisor. Avoids a 128-bit division for times within centuries of
/// today.
inline WideInt divide(WideInt number, WideInt divisor) {
  auto low = static_cast<int64_t>(number), low_divisor = static_cast<int64_t>(divisor);
  return low == number && low_divisor == divisor ? low / low_divisor : number / divisor;
}

/// Converts numbers of ticks from nanoseconds and to microseconds.
template <class Rep, class Period>
struct Ticks {
  static constexpr bool kIsFloat = std::is_floating_point_v<Rep>;
  /// False, with `why`, if the ticks are out of range or not whole.
  static bool from_nanoseconds(WideInt count, Rep& out, const AnyffiValue& value, const char* name,
                               AnyffiMismatch& why) {
    if constexpr (kIsFloat) {
      out = static_cast<Rep>(static_cast<double>(count) * Period::den / Period::num / 1e9);
      return true;
    } else {
      constexpr WideInt kUnit = static_cast<WideInt>(Period::num) * 1000000000;
      constexpr WideInt kCommon = greatest_divisor(kUnit, Period::den);
      WideInt scaled;
      if (__builtin_mul_overflow(count, Period::den / kCommon, &scaled)) return too_large(value, name, why);
      WideInt ticks = divide(scaled, kUnit / kCommon);
      if (ticks * (kUnit / kCommon) != scaled) {
        return refuse(why, value, name, ANYFFI_MISMATCH_VALUE, "expected a whole number of the duration's ticks");
      }
      out = static_cast<Rep>(ticks);
      return out == ticks || too_large(value, name, why);
    }
  }
  /// Rounds to the nearest microsecond.
  static WideInt to_microseconds(Rep count) {
    if constexpr (kIsFloat) {
      double number = __builtin_rint(static_cast<double>(count) * Period::num / Period::den * 1e6);
      if (number != number) throw Error("ValueError", "a duration cannot be NaN");
      if (number < -9e18 || number > 9e18) throw Error("OverflowError", "a duration is longer than 292,000 years");
      return static_cast<int64_t>(number);
    } else {
      constexpr WideInt kUnit = static_cast<WideInt>(Period::num) * 1000000;
      constexpr WideInt kCommon = greatest_divisor(kUnit, Period::den), kDivisor = Period::den / kCommon;
      WideInt scaled = count * (kUnit / kCommon), half = kDivisor / 2;
      return scaled >= 0 ? divide(scaled + half, kDivisor) : -divide(half - scaled, kDivisor);
    }
  }
  static bool too_large(const AnyffiValue& value, const char* name, AnyffiMismatch& why) {
    return refuse(why, value, name, ANYFFI_MISMATCH_RANGE, "the duration");
  }
};

}  // namespace detail

/// Accepts a timedelta or an int of seconds, which must be a whole number of ticks, or a float, which is rounded to the
/// nearest tick as by `round`. OverflowError if the duration cannot hold it, ValueError for NaN. A result is a
/// timedelta, rounded to microseconds.
template <class Rep, class Period>
struct Traits<std::chrono::duration<Rep, Period>> {
  static_assert(std::is_signed_v<Rep>, "anyffi: the Rep of a duration must be signed");
  using Duration = std::chrono::duration<Rep, Period>;
  using Ticks = detail::Ticks<Rep, Period>;
  static constexpr FixedText name{"timedelta | float"};
  static constexpr FixedText result_name{"timedelta"};
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  static constexpr bool kReadsItems = true;
  static constexpr bool kIsWritten = true;
  static constexpr bool kWritesItems = true;
  using Holder = Duration;
  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    Rep ticks{};
    if (!load_ticks(detail::unboxed(given), ticks, why)) return false;
    holder = Duration(ticks);
    return true;
  }
  static Duration take(Holder& holder) { return holder; }
  static AnyffiValue store(const Duration& duration) {
    return detail::store_microseconds(Ticks::to_microseconds(duration.count()), ANYFFI_AS_DURATION);
  }
  static void write(detail::ItemsWriter& writer, const Duration& duration) {
    writer.put_created(ANYFFI_AS_DURATION, detail::make_microseconds(Ticks::to_microseconds(duration.count())));
  }

 private:
  static bool load_ticks(const AnyffiValue& value, Rep& ticks, AnyffiMismatch& why) {
    if (value.type_code == ANYFFI_INT || value.type_code == ANYFFI_BOOL) {
      return Ticks::from_nanoseconds(static_cast<detail::WideInt>(value.as_int) * 1000000000, ticks, value, name, why);
    }
    if (value.type_code == ANYFFI_BIG_INT && !Ticks::kIsFloat) return Ticks::too_large(value, name, why);
    AnyffiValue number = value;
    double seconds;
    if (value.type_code == ANYFFI_FLOAT || value.type_code == ANYFFI_BIG_INT) {
      return Traits<double>::load(number, seconds, why) && round_to_ticks(value, seconds, ticks, why);
    }
    detail::WideInt nanoseconds;
    return detail::load_nanoseconds(value, ANYFFI_AS_DURATION, name, nanoseconds, why) &&
           Ticks::from_nanoseconds(nanoseconds, ticks, value, name, why);
  }
  static bool round_to_ticks(const AnyffiValue& value, double seconds, Rep& ticks, AnyffiMismatch& why) {
    double number = seconds * Period::den / Period::num;
    if constexpr (Ticks::kIsFloat) {
      ticks = static_cast<Rep>(number);
      return true;
    } else {
      if (number != number) {
        return detail::refuse(why, value, name, ANYFFI_MISMATCH_VALUE, "a duration cannot be NaN");
      }
      // The limits as doubles: the upper one is the first that is out of range.
      constexpr double kEnd = static_cast<double>(uint64_t{1} << (sizeof(Rep) * 8 - 2)) * 2;
      number = __builtin_rint(number);
      if (number < -kEnd || number >= kEnd) return Ticks::too_large(value, name, why);
      ticks = static_cast<Rep>(number);
      return true;
    }
  }
};

/// Accepts a datetime, one without a zone as local time, and NumPy's datetime64. A result is a datetime in local time
/// without a zone, rounded to microseconds.
template <class Rep, class Period>
struct Traits<std::chrono::time_point<std::chrono::system_clock, std::chrono::duration<Rep, Period>>> {
  using Duration = std::chrono::duration<Rep, Period>;
  using Time = std::chrono::time_point<std::chrono::system_clock, Duration>;
  using Ticks = detail::Ticks<Rep, Period>;
  static constexpr FixedText name{"datetime"};
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  static constexpr bool kReadsItems = true;
  static constexpr bool kIsWritten = true;
  static constexpr bool kWritesItems = true;
  using Holder = Time;
  static bool load(AnyffiValue& value, Holder& holder, AnyffiMismatch& why) {
    detail::WideInt nanoseconds;
    Rep ticks{};
    if (!detail::load_nanoseconds(value, ANYFFI_AS_DATE_TIME, name, nanoseconds, why)) return false;
    if (!Ticks::from_nanoseconds(nanoseconds, ticks, value, name, why)) return false;
    holder = Time(Duration(ticks));
    return true;
  }
  static Time take(Holder& holder) { return holder; }
  static AnyffiValue store(const Time& time) {
    return detail::store_microseconds(Ticks::to_microseconds(time.time_since_epoch().count()), ANYFFI_AS_DATE_TIME);
  }
  static void write(detail::ItemsWriter& writer, const Time& time) {
    writer.put_created(ANYFFI_AS_DATE_TIME,
                       detail::make_microseconds(Ticks::to_microseconds(time.time_since_epoch().count())));
  }
};

namespace detail {
template <class T>
inline constexpr bool kIncludes<Missing::kChrono, T> = true;
}  // namespace detail

}  // namespace anyffi

#endif  // ANYFFI_STL_CHRONO_H_
