/// \file
/// A compile-time check that the two functions of `pickle()` agree on the type of the state.
#ifndef ANYFFI_DETAIL_PICKLE_STATE_H_
#define ANYFFI_DETAIL_PICKLE_STATE_H_

#include <anyffi/native.h>

namespace anyffi {
namespace detail ANYFFI_HIDDEN_ {

/// What values are, by their annotation.
struct StateKind {
  char kind;
  const char* name;
};
inline constexpr StateKind kStateKinds[] = {
    {'i', "int"},      {'i', "bool"},      {'f', "float"}, {'c', "complex"},   {'t', "str"},   {'b', "bytes"},
    {'s', "Sequence"}, {'s', "Array"},     {'s', "List"},  {'s', "Tuple"},     {'s', "tuple"}, {'s', "list"},
    {'s', "Shape"},    {'m', "Mapping"},   {'m', "Map"},   {'m', "Dict"},      {'m', "dict"},  {'x', "AbstractSet"},
    {'x', "Set"},      {'x', "FrozenSet"}, {'x', "set"},   {'x', "frozenset"},
};
/// Whether an annotation is `word`, or `word` with others in brackets.
constexpr bool is_named(const char* annotation, const char* word) {
  while (*word != 0 && *annotation == *word) ++annotation, ++word;
  return *word == 0 && (*annotation == 0 || *annotation == '[');
}
/// The kind of the values of a type, as results or as parameters; 0 for unions and unknown annotations.
template <class T, bool is_result>
constexpr char state_kind() {
  if constexpr (!std::is_void_v<T> && kIsConvertible<T>) {
    const char* name = Traits<Bare<T>>::name;
    if constexpr (is_result) name = kResultName<Bare<T>>;
    for (const char* c = name; *c != 0; ++c) {
      if (*c == '|') return 0;
    }
    for (const StateKind& row : kStateKinds) {
      if (is_named(name, row.name)) return row.kind;
    }
  }
  return 0;
}
template <class R, class... A>
struct StateOf {
  static constexpr char kGiven = state_kind<R, true>();
  static constexpr char kTaken = (char{}, ..., state_kind<A, false>());
};
/// False if `set` has not one parameter, or accepts another kind of value than `get` returns.
template <class G, class S>
constexpr bool takes_state() {
  if constexpr (SignatureOf<S>::kIsKnown && SignatureOf<S>::kSize != 1) return false;
  if constexpr (SignatureOf<G>::kIsKnown && SignatureOf<S>::kIsKnown) {
    constexpr char kGiven = SignatureOf<G>::template Apply<StateOf>::kGiven;
    constexpr char kTaken = SignatureOf<S>::template Apply<StateOf>::kTaken;
    // A parameter that is a sequence accepts bytes.
    bool is_wider = (kGiven == 'i' && (kTaken == 'f' || kTaken == 'c')) || (kGiven == 'f' && kTaken == 'c') ||
                    (kGiven == 'b' && kTaken == 's');
    return kGiven == 0 || kTaken == 0 || kGiven == kTaken || is_wider;
  }
  return true;
}
template <class G, class S>
inline constexpr bool kTakesState = takes_state<G, S>();

}  // namespace detail ANYFFI_HIDDEN_
}  // namespace anyffi

#endif  // ANYFFI_DETAIL_PICKLE_STATE_H_
