/// \file
/// The parameters of a C++ callable at run time: their types, and the memory for the converted arguments of a call.
#ifndef ANYFFI_DETAIL_PARAM_H_
#define ANYFFI_DETAIL_PARAM_H_

#include <anyffi/args.h>
#include <anyffi/detail/signature.h>

namespace anyffi {
namespace detail ANYFFI_HIDDEN_ {

constexpr uint32_t round_up(uint32_t offset, uint32_t alignment) { return (offset + alignment - 1) & ~(alignment - 1); }

/// Acquires the host's lock again, before the result or an exception is converted.
inline void acquire_lock(AnyffiCallFrame& frame) {
  if (__builtin_expect(frame.lock.is_released != 0, 0)) anyffi_native_acquire_lock(&frame.lock);
}

/// The content of the slot of a parameter converted by Traits<T>: the T itself if it outlives the Holder.
template <class T>
struct Slot {
  using Holder = typename Traits<T>::Holder;
  static constexpr bool kKeepsT = kOutlivesHolder<T>;
  static constexpr bool kIsTaken = kKeepsT && !std::is_same_v<T, Holder>;
  using Kept = std::conditional_t<kKeepsT, T, Holder>;
};

/// Makes `why` own the refused value: the Holder, which may own it, ends with the failed conversion. Always false.
__attribute__((cold, noinline)) inline bool keep_refused(AnyffiMismatch& why) noexcept {
  if (why.got.type_code > 0) anyffi_retain(why.got.as_object);
  return false;
}

/// A parameter of type T& for an object class: the object's class is nearly always exactly T.
template <class T>
inline constexpr bool kIsObjectArg = false;
template <class T>
inline constexpr bool kIsObjectArg<ObjectArg<T>> = true;

template <class T>
inline constexpr bool kIsBorrowedRef = false;
template <class T>
inline constexpr bool kIsBorrowedRef<BorrowedRef<T>> = true;

/// Whether parameters of type T can read containers of the host.
template <class T, class = void>
inline constexpr bool kTakesItems = false;
template <class T>
inline constexpr bool kTakesItems<T, std::enable_if_t<HasTraits<T>::value>> =
    (kReadsItems<T> || kReadsObjects<T>) && alignof(typename Slot<T>::Kept) <= 16;

/// Not inlined: one function for each type, called by all functions with such a parameter. After a failure the caller
/// releases the value in `why`.
template <class T>
__attribute__((noinline)) int load_slot(AnyffiValue* value, AnyffiMismatch* why, void* memory) {
  using Holder = typename Traits<T>::Holder;
  if constexpr (kTakesItems<T>) {
    if (value->type_code > 0 && (value->aux & ANYFFI_LOADED)) {
      using Kept = typename Slot<T>::Kept;
      auto* loaded = reinterpret_cast<AnyffiLoadedArgument*>(value->as_object);
      auto* kept = reinterpret_cast<Kept*>(loaded + 1);
      ::new (memory) Kept(std::move(*kept));
      kept->~Kept();
      if (__builtin_expect(loaded->is_in_room == 0, 0)) anyffi_free(loaded);
      *value = AnyffiValue{};
      return 1;
    }
  }
  if constexpr (Slot<T>::kIsTaken) {
    Holder holder{};
    if (__builtin_expect(!Traits<T>::load(*value, holder, *why), 0)) return keep_refused(*why);
    ::new (memory) T(Traits<T>::take(holder));
  } else if constexpr (std::is_trivially_destructible_v<Holder>) {
    if (__builtin_expect(!Traits<T>::load(*value, *new (memory) Holder{}, *why), 0)) return keep_refused(*why);
  } else {
    struct Guard {
      Holder* holder;
      ~Guard() {
        if (holder) holder->~Holder();
      }
    } guard{new (memory) Holder{}};
    if (__builtin_expect(!Traits<T>::load(*value, *guard.holder, *why), 0)) return keep_refused(*why);
    guard.holder = nullptr;
  }
  return 1;
}

template <class T>
__attribute__((noinline)) void destroy_slot(void* memory) {
  using Kept = typename Slot<T>::Kept;
  static_cast<Kept*>(memory)->~Kept();
}

template <class T>
int normalize_number(AnyffiValue* value, AnyffiMismatch* why) {
  using Number = typename Traits<T>::Holder;
  Number number{};
  if (!Traits<T>::load(*value, number, *why)) return 0;
  if constexpr (std::is_unsigned_v<Number> && sizeof(Number) == 8) {
    *value = anyffi_make_int(static_cast<int64_t>(number));
    if (value->as_int < 0) value->aux = ANYFFI_UNSIGNED;
  } else {
    *value = Traits<Number>::store(number);
  }
  return 1;
}

template <class T>
constexpr AnyffiParamType describe_param() {
  using Kept = typename Slot<T>::Kept;
  AnyffiParamType type{};
  type.load = &load_slot<T>;
  type.name = Traits<T>::name;
  type.exact_types = exact_types_of<T>();
  type.size = sizeof(Kept);
  type.alignment = alignof(Kept);
  type.flags = (kTakesUtf8<T> ? ANYFFI_PARAM_TAKES_UTF8 : 0) |
               (kTakesItems<T> && !kCopiesObjects<T> ? ANYFFI_PARAM_READS_ITEMS : 0) |
               (kTakesUtf8<T> && kIsView<T> ? ANYFFI_PARAM_VIEWS_TEXT : 0) |
               (kTakesItems<T> && kReadsObjects<T> ? ANYFFI_PARAM_READS_OBJECTS : 0) |
               (kReadsMembers<T> ? ANYFFI_PARAM_READS_MEMBERS : 0) | (kIsObjectArg<T> ? ANYFFI_PARAM_IS_OBJECT : 0) |
               (std::is_integral_v<T> && kMayExceedInt64<T> ? ANYFFI_PARAM_TAKES_UNSIGNED : 0);
  if constexpr (!std::is_trivially_destructible_v<Kept>) type.destroy = &destroy_slot<T>;
  if constexpr (kIsNumber<T>) type.normalize = &normalize_number<T>;
  return type;
}

template <class T>
ANYFFI_HIDDEN_ inline constexpr AnyffiParamType kParamType = describe_param<T>();

/// The offset after the slot of a parameter.
constexpr uint32_t add_slot(uint32_t end, uint32_t size, uint32_t alignment) { return round_up(end, alignment) + size; }

/// The memory layout of all slots; `offsets[kSize]` is that of the result.
template <class R, class... A>
struct Slots {
  static constexpr int kSize = sizeof...(A);
  struct Offsets {
    uint32_t at[kSize + 1] = {};
    uint32_t end = 0;
    constexpr Offsets() {
      int i = 0;
      ((at[i++] = round_up(end, alignof(typename Slot<A>::Kept)),
        end = add_slot(end, sizeof(typename Slot<A>::Kept), alignof(typename Slot<A>::Kept))),
       ...);
      at[i] = round_up(end, alignof(R));
      end = add_slot(end, sizeof(R), alignof(R));
    }
  };
  ANYFFI_HIDDEN_ static constexpr Offsets kOffsets{};
  alignas(R) alignas(uint64_t) alignas(typename Slot<A>::Kept...) char bytes[kOffsets.end];
};

/// Passes the content of a slot to a parameter of type A, converted by Traits<T>.
template <class A, class T>
decltype(auto) pass_slot(typename Slot<T>::Kept& kept) {
  if constexpr (!std::is_same_v<T, Bare<A>>) {
    return static_cast<A>(*kept);  // a T& of an object class
  } else if constexpr (Slot<T>::kKeepsT && std::is_lvalue_reference_v<A>) {
    return static_cast<A>(kept);
  } else if constexpr (Slot<T>::kKeepsT) {
    return static_cast<T&&>(kept);
  } else if constexpr (std::is_lvalue_reference_v<A> && !std::is_const_v<std::remove_reference_t<A>>) {
    return Lvalue<T>{Traits<T>::take(kept)};
  } else {
    return Traits<T>::take(kept);
  }
}

template <class T>
bool load_same_class(const AnyffiValue& value, ObjectArg<T>*, void* slot) {
  if (value.type_code <= 0 || value.as_object->type_code != type_code_slot<T>) return false;
  auto* borrowed = new (slot) BorrowedPointer<T>;
  borrowed->content = static_cast<T*>(reinterpret_cast<const AnyffiInstance*>(value.as_object)->content);
  borrowed->in_use.begin(value.as_object);
  return true;
}

/// The flags that an object may have as the result of this call: 0 or ANYFFI_BORROWED.
inline uint32_t result_flags(const AnyffiValue* result) {
  return result->type_code == ANYFFI_NONE ? result->aux & ANYFFI_BORROWED : 0;
}

/// Results that are a single object, which may have an owner: Traits<R>::store_result.
template <class R, class = void>
inline constexpr bool kMayBorrow = false;
template <class R>
inline constexpr bool kMayBorrow<R, std::void_t<decltype(&Traits<R>::store_result)>> = true;

/// Store a result, with the host's lock held; one function for each type. Always return true, so that callers can use a
/// tail call.
template <class R>
__attribute__((noinline)) bool store_result(AnyffiCallFrame& frame, R* kept, AnyffiValue* result) {
  struct Guard {
    R* kept;
    ~Guard() { kept->~R(); }
  } guard{kept};
  acquire_lock(frame);
  if (write_result(*kept, result)) return true;
  if constexpr (kMayBorrow<R>) {
    assign(*result, Traits<R>::store_result(static_cast<R&&>(*kept), result_flags(result)));
  } else {
    assign(*result, Traits<R>::store(static_cast<R&&>(*kept)));
  }
  return true;
}
template <class R>
__attribute__((noinline)) bool store_reference(AnyffiCallFrame& frame, const R& object, AnyffiValue* result) {
  acquire_lock(frame);
  if (write_result(object, result)) return true;
  assign(*result, Traits<R>::store(object));
  return true;
}

/// Stores a copy of the referent of a reference, or what is moved from it; false if its class has neither.
template <class R>
__attribute__((noinline)) bool store_copied([[maybe_unused]] Returns returns, const R& object, AnyffiValue* result) {
  if constexpr (kIsObjectValue<R>) {
    if (returns == Returns::kMove) {
      assign(*result, Traits<R>::store(std::move(const_cast<R&>(object))));
      return true;
    }
  }
  if constexpr (kIsCopyable<R>) {
    assign(*result, Traits<R>::store(object));
    return true;
  } else if constexpr (std::is_abstract_v<R>) {
    if (returns == Returns::kMove) return false;
    AnyffiValue copied = copy_derived(object);
    assign(*result, copied);
    return copied.type_code != ANYFFI_NONE;
  }
  return false;
}
/// Stores the referent of a reference: the object itself if it is one of the arguments, else by default a copy.
template <class R>
__attribute__((noinline)) bool store_referent(AnyffiCallFrame& frame, Returns returns, const R& object,
                                              const AnyffiValue* args, int32_t count, AnyffiValue* result) {
  acquire_lock(frame);
  for (int32_t i = 0; i < count; ++i) {
    if (!is_instance<R>(args[i]) || content_of<R>(args[i].as_object) != __builtin_addressof(object)) continue;
    AnyffiValue found = object_value(args[i].as_object);
    found.aux = args[i].aux & ANYFFI_MOVABLE ? 0 : result_flags(result);
    if (found.aux == 0) anyffi_retain(found.as_object);
    assign(*result, found);
    return true;
  }
  bool is_copied = returns == Returns::kUnspecified || returns == Returns::kCopy || returns == Returns::kMove;
  if (is_copied && store_copied(returns, object, result)) return true;
  const ReturnContext context{returns, first_object(args, count)};
  assign(*result, store_pointer(const_cast<R*>(__builtin_addressof(object)), context, result_flags(result)));
  return true;
}
/// Stores a pointer, or a container of pointers.
template <class R>
__attribute__((noinline)) bool store_pointing(AnyffiCallFrame& frame, Returns returns, R* kept, const AnyffiValue* args,
                                              int32_t count, AnyffiValue* result) {
  const ReturnContext context{returns, first_object(args, count)};
  if constexpr (kIsObjectPointer<R>) {
    acquire_lock(frame);
    assign(*result, Traits<R>::store_in(context, *kept, result_flags(result)));
    return true;
  } else {
    ReturnScope scope(context);
    return store_result(frame, kept, result);
  }
}

}  // namespace detail ANYFFI_HIDDEN_
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_PARAM_H_
