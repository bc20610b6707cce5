/// \file
/// ANYFFI_ENUM: enumerations of C++ as classes of Python's `enum`.
///
///     ANYFFI_ENUM(shop::Size, "shop.Size")
///         .doc("How large a parcel is.")
///         .value("SMALL", shop::Size::kSmall, "Fits into a letter box.")
///         .value("LARGE", shop::Size::kLarge);
#ifndef ANYFFI_ENUM_H_
#define ANYFFI_ENUM_H_

#include <anyffi/class.h>

namespace anyffi {

namespace detail ANYFFI_HIDDEN_ {

/// What a library knows about an enumeration; never freed.
struct Enumeration {
  const AnyffiFieldInfo* members;
  int32_t size;
  bool is_open;  // accepts any number in its range, not only those of members
  /// The host's object for each member, created when first needed: a reference.
  AnyffiObject** made;
  /// A hash table with linear probing: 1 + the index of a member, or 0 for a free slot. The number of slots is a power
  /// of two, and at least half of them are free.
  int32_t* slots;
  uint32_t mask;

  /// Fast path: most enumerations count from 0.
  int32_t find(int64_t number) const {
    auto guess = static_cast<uint64_t>(number);
    if (guess < static_cast<uint64_t>(size) && members[guess].offset == number) return static_cast<int32_t>(guess);
    uint32_t slot = start_of(number);
    while (slots[slot] != 0 && members[slots[slot] - 1].offset != number) slot = (slot + 1) & mask;
    return slots[slot] - 1;
  }
  void fill() {
    for (int32_t i = 0; i < size; ++i) {
      uint32_t slot = start_of(members[i].offset);
      // If several members have the same number, the first one counts.
      while (slots[slot] != 0 && members[slots[slot] - 1].offset != members[i].offset) slot = (slot + 1) & mask;
      if (slots[slot] == 0) slots[slot] = i + 1;
    }
  }
  uint32_t start_of(int64_t number) const {
    return static_cast<uint32_t>((static_cast<uint64_t>(number) * 0x9E3779B97F4A7C15u) >> 32) & mask;
  }
  bool has(int64_t number) const { return is_open || find(number) >= 0; }
};

/// NULL until the members are known.
template <class E>
ANYFFI_HIDDEN_ inline Enumeration* enumeration_slot = nullptr;

__attribute__((cold, noinline)) inline Enumeration* read_enumeration(int32_t (*type_code_of)(),
                                                                     Enumeration** slot) noexcept {
  const AnyffiTypeInfo* info = nullptr;
  int status = catch_all([&] {
    info = anyffi_type_get_info(type_code_of());
    return 0;
  });
  if (status != 0) {
    AnyValue ignored;
    anyffi_error_take_raised(ignored.out());
  }
  if (!info || info->num_fields == 0) return nullptr;
  uint32_t num_slots = 2;
  while (num_slots < 2 * static_cast<uint32_t>(info->num_fields)) num_slots *= 2;
  auto count = static_cast<size_t>(info->num_fields);
  size_t size = sizeof(Enumeration) + sizeof(AnyffiObject*) * count + sizeof(int32_t) * num_slots;
  auto* found = static_cast<Enumeration*>(anyffi_alloc(size));
  if (!found) return nullptr;
  auto** made = reinterpret_cast<AnyffiObject**>(found + 1);
  auto* slots = reinterpret_cast<int32_t*>(made + count);
  for (size_t i = 0; i < count; ++i) made[i] = nullptr;
  for (uint32_t i = 0; i < num_slots; ++i) slots[i] = 0;
  bool is_open = strcmp(info->fields->type_name, "IntFlag") == 0;
  *found = Enumeration{info->fields, info->num_fields, is_open, made, slots, num_slots - 1};
  found->fill();
  Enumeration* other = nullptr;
  if (__atomic_compare_exchange_n(slot, &other, found, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return found;
  anyffi_free(found);
  return other;
}

template <class E>
Enumeration* enumeration_of() noexcept {
  Enumeration* found = __atomic_load_n(&enumeration_slot<E>, __ATOMIC_ACQUIRE);
  return __builtin_expect(found != nullptr, 1) ? found : read_enumeration(&type_code_of<E>, &enumeration_slot<E>);
}

/// The host's member for an owned Int or BigInt with the 64 bits `bits`.
__attribute__((noinline)) inline AnyffiValue store_member(const Enumeration* all, int32_t (*type_code_of)(),
                                                          AnyffiValue number, int64_t bits) {
  if (!all) return number;
  AnyValue from;
  *from.out() = number;
  int32_t index = all->find(bits);
  AnyffiObject* known = index < 0 ? nullptr : __atomic_load_n(&all->made[index], __ATOMIC_ACQUIRE);
  if (known) {
    anyffi_retain(known);
    return object_value(known);
  }
  int32_t type_code = type_code_of();
  if (index < 0 && !all->is_open) {
    throw Error("ValueError", "{} is not a member of {}", from, anyffi_type_get_info(type_code)->type_key);
  }
  AnyffiValue created;
  check(anyffi_value_create_host(type_code, &from.raw(), &created));
  if (index >= 0 && created.type_code == ANYFFI_PY_OBJECT) {
    anyffi_retain(created.as_object);
    if (!__atomic_compare_exchange_n(&all->made[index], &known, created.as_object, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
      anyffi_release(created.as_object);
    }
  }
  return created;
}

}  // namespace detail ANYFFI_HIDDEN_

/// Accepts members, and the numbers of members; for flags every number in its range. TypeError for a member of another
/// enumeration, ValueError for other numbers, also as a result.
template <class E>
struct Traits<E, std::enable_if_t<detail::kIsEnumeration<E>>> {
  using Number = typename detail::NumberOf<std::underlying_type_t<E>>::type;
  using Holder = Number;
  ANYFFI_HIDDEN_ static constexpr auto name = detail::kTypeKeyOf<E>;
  ANYFFI_HIDDEN_ static constexpr auto wanted =
      FixedText("expected a member of ") + FixedText(detail::KeyOf<E>::kValue);
  static constexpr uint64_t type_mask = 0;
  static constexpr bool kBorrows = false;
  static constexpr bool kReadsMembers = true;

  static bool load(AnyffiValue& given, Holder& holder, AnyffiMismatch& why) {
    return detail::load_number<Traits>(given, holder, why);
  }
  static bool load_plain(const AnyffiValue& value, Number& out) {
    return Traits<Number>::load_plain(value, out) && !is_of_another(value) && has(value.as_int);
  }
  static bool load_special(const AnyffiValue& given, Number& out, AnyffiMismatch& why) {
    AnyValue converted;
    AnyffiValue value = given;
    if (given.type_code == ANYFFI_PY_OBJECT) {
      if (anyffi_value_convert(&given, ANYFFI_AS_PLAIN, converted.out()) != 0) {
        return detail::refuse(why, given, name, ANYFFI_MISMATCH_RAISED);
      }
      value = converted.raw();
    }
    if (is_of_another(value)) return detail::refuse(why, given, name);
    AnyffiMismatch ignored;
    if (Traits<Number>::load(value, out, ignored) && has(static_cast<int64_t>(out))) return true;
    bool is_number =
        value.type_code == ANYFFI_INT || value.type_code == ANYFFI_BIG_INT || value.type_code == ANYFFI_BOOL;
    if (!is_number) return detail::refuse(why, given, name);
    auto* all = detail::enumeration_of<E>();
    if (all && !all->is_open) return detail::refuse(why, given, name, ANYFFI_MISMATCH_VALUE, wanted);
    return detail::refuse_int(why, value, detail::integer_name(std::is_signed_v<Number>, sizeof(Number)));
  }
  static E take(Holder& holder) { return static_cast<E>(holder); }
  static AnyffiValue store(E value) {
    auto number = static_cast<Number>(value);
    return detail::store_member(detail::enumeration_of<E>(), &type_code_of<E>, Traits<Number>::store(number),
                                static_cast<int64_t>(number));
  }

 private:
  /// Whether a value is a member of another enumeration.
  static bool is_of_another(const AnyffiValue& value) {
    return anyffi_is_member(&value) && static_cast<int32_t>(value.aux) != type_code_of<E>();
  }
  static bool has(int64_t number) {
    auto* all = detail::enumeration_of<E>();
    return !all || all->has(number);
  }
};

/// Describes an enumeration to front ends, as Class does a class.
template <class E>
class __attribute__((visibility("hidden")))
Class<E, std::enable_if_t<std::is_enum_v<E>, E>> : public detail::ClassBuilder {
 public:
  Class() noexcept
      : ClassBuilder(&type_code_of<E>, &detail::type_code_slot<E>, &detail::module_class<E>, nullptr, nullptr) {}

  /// The documentation of the member before it; before all members, of the enumeration.
  Class& doc(const char* text) noexcept {
    anyffi_class_set_doc(&builder_, text);
    return *this;
  }
  /// Declares the values as sets of bits: Python's class is an IntFlag, not an IntEnum.
  Class& flags() noexcept {
    base_ = "IntFlag";
    anyffi_class_set_field_types(&builder_, base_);
    return *this;
  }
  Class& value(const char* name, E value, const char* text = nullptr) noexcept {
    using Number = std::underlying_type_t<E>;
    AnyffiFieldInfo member{};
    member.name = name;
    member.doc = text;
    member.type_name = base_;
    member.offset = static_cast<int64_t>(static_cast<Number>(value));
    member.storage = std::is_unsigned_v<Number>;
    anyffi_class_add_field(&builder_, &member);
    return *this;
  }

 private:
  const char* base_ = "IntEnum";
};

}  // namespace anyffi

/// `ANYFFI_ENUM(shop::Size, "shop.Size").value("SMALL", shop::Size::kSmall);`, at global scope, before any function
/// uses the type. If several files do, put ANYFFI_TYPE_KEY in a header and ANYFFI_BIND in one file, as for classes.
#define ANYFFI_ENUM(E, key) \
  ANYFFI_TYPE_KEY(E, key);  \
  ANYFFI_BIND(E)

#endif  // ANYFFI_ENUM_H_
