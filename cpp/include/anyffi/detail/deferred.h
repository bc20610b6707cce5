/// \file
/// Containers, text and times that the host converts directly from and to objects of its own, without packing them as
/// cells: results of functions, and arguments and results of callbacks.
#ifndef ANYFFI_DETAIL_DEFERRED_H_
#define ANYFFI_DETAIL_DEFERRED_H_

#include <anyffi/detail/base.h>

#include <new>

namespace anyffi {
namespace detail {

/// Makes the result of a call for a caller that accepts items; false if the result must be stored instead. Defined in
/// items_writer.h, which the headers of such types include.
template <class R>
bool write_whole(const R& whole, AnyffiValue* result);
template <class R>
bool write_result(const R& whole, AnyffiValue* result) {
  if constexpr (kIsWritten<R>) {
    bool is_wanted = result->type_code == ANYFFI_NONE && (result->aux & ANYFFI_TAKES_ITEMS);
    return is_wanted && write_whole(whole, result);
  }
  (void)whole, (void)result;
  return false;
}

/// The `make` of an AnyffiDeferred.
template <class T>
__attribute__((noinline)) void make_deferred(const void* object, AnyffiValue* out) {
  const T& whole = *static_cast<const T*>(object);
  if (!write_result(whole, out)) *out = Traits<T>::store(whole);
}

/// Whether the host loads a callback's result of type R itself, which must not run code of users. Numbers are fast
/// anyway, and only packing distinguishes members of enumerations from numbers.
template <class R>
inline constexpr bool kIsLoadedByHost =
    kLoadsQuietly<R> && !kIsNumber<R> && !kIsCharacter<R> && !kReadsMembers<R> && !kIsView<R>;
template <>
inline constexpr bool kIsLoadedByHost<void> = false;

/// The `load` of an AnyffiResultSlot.
template <class R>
__attribute__((noinline)) int load_result(AnyffiValue* value, AnyffiMismatch* why, void* memory) {
  typename Traits<R>::Holder holder{};
  if (!Traits<R>::load(*value, holder, *why)) return 0;
  ::new (memory) R(Traits<R>::take(holder));
  return 1;
}

/// The memory in which the host may load a callback's result.
template <class R, bool = kIsLoadedByHost<R>>
class ResultRoom {
 public:
  const AnyffiResultSlot* slot() const { return nullptr; }
};
template <class R>
class ResultRoom<R, true> {
 public:
  ResultRoom() : slot_{&load_result<R>, memory_} {}
  ResultRoom(const ResultRoom&) = delete;
  ResultRoom& operator=(const ResultRoom&) = delete;

  const AnyffiResultSlot* slot() const { return &slot_; }
  /// Whether the host loaded the result there.
  static bool is_filled(const AnyffiValue& result) {
    return result.type_code == ANYFFI_NONE && (result.aux & ANYFFI_LOADED) != 0;
  }
  R take() {
    struct Loaded {
      R* result;
      ~Loaded() { result->~R(); }
    } loaded{std::launder(reinterpret_cast<R*>(memory_))};
    return std::move(*loaded.result);
  }

 private:
  AnyffiResultSlot slot_;
  alignas(R) char memory_[sizeof(R)];
};

/// Calls a function with the arguments of an ArgPack, and with the `slot` of a ResultRoom.
template <class Pack>
int call_deferring(AnyffiFunction* function, AnyffiValue* args, int32_t num_args, AnyffiValue* result,
                   const AnyffiResultSlot* slot) {
  if (Pack::kNumDeferred == 0 && slot == nullptr) return function->call(function->self, args, num_args, result);
  return anyffi_function_call_deferred(function, args, num_args, result, slot);
}

}  // namespace detail
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_DEFERRED_H_
