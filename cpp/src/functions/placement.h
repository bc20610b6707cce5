/// \file
/// Places the arguments of an overloaded function in the order of each candidate's parameters.
#ifndef ANYFFI_SRC_FUNCTIONS_PLACEMENT_H_
#define ANYFFI_SRC_FUNCTIONS_PLACEMENT_H_

#include <anyffi/host_api.h>
#include <anyffi/inline.h>

#include <algorithm>
#include <cstring>

#include "core/memory.h"
#include "functions/signature.h"

namespace anyffi::runtime {

/// The `self` of an overloaded function.
struct Overloaded {
  AnyffiFunctionInfo info{};
  String name;
  /// The names of the last arguments, if the function was made for one call with keywords.
  Vector<String> keywords;
};

/// Sets the names of the last arguments of an overloaded function, for messages.
void set_keywords(AnyffiObject* overloaded, Vector<String> names);

/// Reads a link to the next candidate, or NULL: other threads may append candidates meanwhile.
inline const AnyffiOverload* follow(const AnyffiOverload* const& link) {
  return __atomic_load_n(&link, __ATOMIC_ACQUIRE);
}

/// A call, and the front end's callback that places its arguments; NULL if they are in order.
struct Call {
  const Overloaded& set;
  AnyffiPlaceArgs place;
  void* context;
  const AnyffiValue* args;
  int32_t num_args;
};

/// The type mask of a value. A box has that of its content, an omitted argument all types.
inline uint64_t type_mask_of(const AnyffiValue& value) {
  int32_t type_code = value.type_code;
  // Fast path: types that are their own family.
  if (type_code <= ANYFFI_NONE && type_code >= ANYFFI_BYTES) return uint64_t{1} << -type_code;
  if (type_code == ANYFFI_BOX) type_code = reinterpret_cast<const AnyffiBox*>(value.as_object)->value.type_code;
  return type_code == ANYFFI_MISSING ? ~uint64_t{0} : anyffi_type_bit(anyffi_type_get_family(type_code));
}

/// Up to this many arguments are kept on the stack.
constexpr int32_t kFew = 16;

/// Arguments with their type masks and, for members of enumerations, the type code of the enumeration, else 0.
class Arguments {
 public:
  explicit Arguments(int32_t capacity) {
    if (capacity <= kFew) return;
    constexpr size_t kSize = sizeof(AnyffiValue) + sizeof(uint64_t) + sizeof(int32_t);
    many_ = anyffi_alloc(static_cast<size_t>(capacity) * kSize);
    if (many_ == nullptr) throw std::bad_alloc();
    values_ = static_cast<AnyffiValue*>(many_);
    type_masks_ = reinterpret_cast<uint64_t*>(values_ + capacity);
    enumerations_ = reinterpret_cast<int32_t*>(type_masks_ + capacity);
  }
  ~Arguments() {
    if (many_ != nullptr) anyffi_free(many_);
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  /// Adds an argument as the caller gave it.
  void add(const AnyffiValue& given, uint64_t type_mask) {
    bool is_member = anyffi_is_member(&given) != 0;
    has_members_ |= is_member;
    append(given, type_mask, is_member ? static_cast<int32_t>(given.aux) : 0);
  }
  void add_from(const Arguments& other, int32_t index) {
    has_members_ |= other.enumerations_[index] != 0;
    append(other.values_[index], other.type_masks_[index], other.enumerations_[index]);
  }
  void add_missing() { append(anyffi_make_value(static_cast<uint32_t>(ANYFFI_MISSING), 0), ~uint64_t{0}, 0); }
  /// Sets the enumeration in `aux` of the arguments for which the candidate reads it, and clears it in the others.
  void name_members(const AnyffiFunctionInfo& info) {
    uint64_t read = has_members_ && ANYFFI_HAS(AnyffiFunctionInfo, &info, member_params) ? info.member_params : 0;
    for (int32_t i = 0; has_members_ && i < size_; ++i) {
      bool is_read = i < 64 && (read >> i & 1) != 0;
      if (enumerations_[i] != 0) values_[i].aux = is_read ? static_cast<uint32_t>(enumerations_[i]) : 0;
    }
  }
  /// Sets the flags of tensors: whether they need a conversion does not show in the type mask.
  void mark_tensors(uint32_t flags) {
    for (int32_t i = 0; i < size_; ++i) {
      if (values_[i].type_code == ANYFFI_TENSOR) values_[i].aux = flags;
    }
  }
  void clear() {
    size_ = 0;
    has_members_ = false;
  }
  int32_t size() const { return size_; }
  AnyffiValue* values() { return values_; }
  const uint64_t* type_masks() const { return type_masks_; }
  const int32_t* enumerations() const { return enumerations_; }

 private:
  void append(const AnyffiValue& value, uint64_t type_mask, int32_t enumeration) {
    values_[size_] = value;
    type_masks_[size_] = type_mask;
    enumerations_[size_++] = enumeration;
  }

  int32_t size_ = 0;
  bool has_members_ = false;
  void* many_ = nullptr;
  AnyffiValue few_[kFew];
  uint64_t few_masks_[kFew];
  int32_t few_enumerations_[kFew];
  AnyffiValue* values_ = few_;
  uint64_t* type_masks_ = few_masks_;
  int32_t* enumerations_ = few_enumerations_;
};

/// How well arguments match parameters, from worst to best.
enum Match : unsigned {
  kNumber = 1,     /* there are too many or too few */
  kConversion = 2, /* one needs a conversion, which may fail */
  kAsInt = 4,      /* exact, except that a bool or a member of an enumeration is taken as an int, as in Python */
  kExact = 8
};

/// The `try_call` of a function; null if it has none.
inline AnyffiCall try_call_of(const AnyffiFunctionInfo& info) {
  return ANYFFI_HAS(AnyffiFunctionInfo, &info, try_call) ? info.try_call : nullptr;
}

/// Whether a parameter's type is the enumeration, or begins with it: `shop.Size | None`.
inline bool takes_enumeration(const AnyffiParamInfo& param, int32_t enumeration) {
  const AnyffiTypeInfo* info = anyffi_type_get_info(enumeration);
  if (info == nullptr || param.type_name == nullptr) return false;
  size_t size = std::strlen(info->type_key);
  return std::strncmp(param.type_name, info->type_key, size) == 0 &&
         (param.type_name[size] == '\0' || param.type_name[size] == ' ');
}

/// How well one argument matches a parameter that accepts `exact` without conversion.
inline Match compare_member(const AnyffiParamInfo& param, uint64_t exact, int32_t enumeration) {
  if (exact == ~uint64_t{0} || takes_enumeration(param, enumeration)) return kExact;
  return (exact & anyffi_type_bit(ANYFFI_INT)) != 0 ? kAsInt : kConversion;
}

/// Compares the type masks of `size` arguments. `enumerations`: as in Arguments; NULL if no argument is a member.
inline Match compare(const AnyffiFunctionInfo& info, const uint64_t* given, const int32_t* enumerations, int32_t size) {
  if (try_call_of(info) != nullptr && (info.flags & (ANYFFI_VARIADIC | ANYFFI_KEYWORD_ONLY)) == 0) {
    if (size > info.num_params || size < info.num_required) return kNumber;
  } else if ((info.flags & ANYFFI_KEYWORD_ONLY) != 0) {
    // Only an omitted argument has all types.
    int32_t count = count_arguments(info, size, size > 0 && given[size - 1] == ~uint64_t{0});
    if (count < info.num_required) return kNumber;
  }
  Match worst = kExact;
  bool has_types = ANYFFI_HAS(AnyffiFunctionInfo, &info, exact_types) && info.exact_types != nullptr;
  for (int32_t i = 0; has_types && i < size && i < info.num_params; ++i) {
    Match match = kExact;
    if (enumerations != nullptr && enumerations[i] != 0) {
      match = compare_member(info.params[i], info.exact_types[i], enumerations[i]);
    } else if ((info.exact_types[i] & given[i]) == 0) {
      bool is_int =
          given[i] == anyffi_type_bit(ANYFFI_BOOL) && (info.exact_types[i] & anyffi_type_bit(ANYFFI_INT)) != 0;
      match = is_int ? kAsInt : kConversion;
    }
    if (match == kConversion) return kConversion;
    worst = std::min(worst, match);
  }
  return worst;
}

/// Arguments in the given order, the same for each candidate.
struct AsGiven {
  Arguments* operator()(Arguments* given, const AnyffiOverload&, int32_t) { return given; }
};

/// Arguments in the order of a candidate's parameters, to which the front end binds keywords.
class AsPlaced {
 public:
  explicit AsPlaced(const Call& call) : call_(call), capacity_(most_places(call)), placed_(capacity_) {
    if (capacity_ <= kFew) return;
    many_.resize(static_cast<size_t>(capacity_));
    indices_ = many_.data();
  }
  /// Returns NULL if the candidate has no parameter for an argument.
  Arguments* operator()(Arguments* given, const AnyffiOverload& overload, int32_t index) {
    // The candidate was added after this call began.
    if (places_of(overload) > capacity_) return nullptr;
    int32_t size = call_.place(call_.context, &overload, index, indices_);
    if (size < 0) return nullptr;
    placed_.clear();
    for (int32_t i = 0; i < size; ++i) {
      if (indices_[i] >= 0 && indices_[i] < given->size()) {
        placed_.add_from(*given, indices_[i]);
      } else {
        placed_.add_missing();
      }
    }
    return &placed_;
  }

 private:
  /// The largest number of arguments that a candidate can get.
  static int32_t places_of(const AnyffiOverload& overload) {
    const AnyffiFunctionInfo& info = *reinterpret_cast<const AnyffiFunction*>(overload.function)->info;
    // An ANYFFI_MISSING follows keyword-only arguments.
    int32_t most = (info.flags & ANYFFI_KEYWORD_ONLY) != 0 ? info.num_params + 1 : info.num_params;
    return std::max(most, overload.num_arg_indices);
  }
  static int32_t most_places(const Call& call) {
    int32_t most = call.num_args;
    for (auto* overload = follow(call.set.info.overloads); overload != nullptr; overload = follow(overload->next)) {
      most = std::max(most, places_of(*overload));
    }
    return most;
  }

  const Call& call_;
  int32_t capacity_;
  Arguments placed_;
  int32_t few_[kFew];
  int32_t* indices_ = few_;
  Vector<int32_t> many_;
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_FUNCTIONS_PLACEMENT_H_
