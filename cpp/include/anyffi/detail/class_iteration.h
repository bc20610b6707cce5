/// \file
/// Iteration over objects of classes, by the iterators of C++.
#ifndef ANYFFI_DETAIL_CLASS_ITERATION_H_
#define ANYFFI_DETAIL_CLASS_ITERATION_H_

#include <anyffi/detail/class_members.h>

#include <string_view>

namespace anyffi {
namespace detail ANYFFI_HIDDEN_ {

/// An element of an iteration, as the iterator's function returns it; Missing at the end.
struct WalkItem {
  AnyffiValue owned;
};

/// Converts elements for Python. `kInside`: they refer into the owner.
template <class T, bool kInside>
struct WalkedObject {
  Ref<T> owner;

  static WalkItem end() {
    AnyffiValue missing{};
    missing.type_code = ANYFFI_MISSING;
    return {missing};
  }

  /// Stores the current element of an iterator.
  template <class I>
  WalkItem store(I& iterator) {
    using R = decltype(*iterator);
    using Item = Bare<R>;
    if constexpr (!kInside) {
      return {Traits<Item>::store(static_cast<Item>(*iterator))};
    } else if constexpr (std::is_lvalue_reference_v<R> && kIsObjectClass<Item>) {
      auto* element = const_cast<Item*>(__builtin_addressof(*iterator));
      if (is_part_of(iterator, element)) return copy(*element);
      return {refer_to_borrowed(element, owner.get())};
    } else if constexpr (kIsObjectPointer<Item>) {
      auto* element = *iterator;
      if (is_part_of(iterator, element)) return copy(*element);
      return {Traits<Item>::store_in({Returns::kReferenceInternal, owner.get()}, element, 0)};
    } else if constexpr (std::is_lvalue_reference_v<R> && kTakesObject<Item>) {
      auto* element = __builtin_addressof(*iterator);
      if (is_part_of(iterator, element)) throw Error("TypeError", kEndsWithIterator);
      return {Traits<Item>::refer_inside(*element, owner.get())};
    } else if constexpr (kMayBeNull<Item>) {
      return {Traits<Item>::store(*iterator)};
    } else {
      static_assert(kIsObjectClass<Item>,
                    "anyffi: elements of iterate_references() are objects of bound classes, or pointers to them");
      return keep_owner(Traits<Item>::store(static_cast<Item>(*iterator)));
    }
  }

 private:
  static constexpr const char* kEndsWithIterator =
      "an iterator holds its elements, which cannot be copied: they would end with it";
  /// An element stored in the iterator itself changes with it, and ends with it.
  template <class I>
  static bool is_part_of(const I& iterator, const volatile void* element) {
    return reinterpret_cast<uintptr_t>(element) - reinterpret_cast<uintptr_t>(&iterator) < sizeof(I);
  }
  template <class Element>
  WalkItem copy(Element& element) {
    using Class = std::remove_cv_t<Element>;
    if constexpr (kIsCopyable<Class>) {
      return keep_owner(Traits<Class>::store(element));
    } else {
      throw Error("TypeError", kEndsWithIterator);
    }
  }
  WalkItem keep_owner(AnyffiValue element) {
    AnyValue stored(Adopt{}, element);
    const AnyffiValue whole = object_value(owner.get());
    check(anyffi_object_keep_alive(stored.raw().as_object, &whole));
    return {stored.release()};
  }
};

template <class T, class Begin, class End, bool kInside>
struct Walk {
  WalkedObject<T, kInside> object;
  Begin next;
  End end;
  bool is_running = false;
  WalkItem operator()() {
    // Storing an element may run code of Python that asks for the next one.
    if (is_running) throw Error("ValueError", "iterator already executing");
    if (!(next != end)) return object.end();
    struct Running {
      bool& flag;
      explicit Running(bool& f) : flag(f) { flag = true; }
      ~Running() { flag = false; }
    } running(is_running);
    WalkItem item = object.store(next);
    ++next;
    return item;
  }
};

/// Elements by index, from new iterators for each element: the object may change between elements.
template <class T, class B, class E, bool kInside>
struct IndexWalk {
  WalkedObject<T, kInside> object;
  B begin;
  E end;
  std::ptrdiff_t index = 0;
  WalkItem operator()() {
    auto first = call_with<T>(begin, object.owner);
    if (index < 0 || index >= call_with<T>(end, object.owner) - first) {
      index = -1;
      return object.end();
    }
    auto at = first + index;
    WalkItem item = object.store(at);
    ++index;
    return item;
  }
};

/// The category of an iterator: as it declares it, in the C++20 or C++17 way; for pointers and undeclared iterators, by
/// their operators. This is the tag of random access, without `<iterator>`, which takes long to compile.
using RandomAccess = std::string_view::const_reverse_iterator::iterator_category;
template <class I>
RandomAccess category_of(...);
template <class I>
typename I::iterator_category category_of(long);
template <class I>
typename I::iterator_concept category_of(int);

/// Whether I is a random access iterator. An iterator of variants has the operators too, but they throw for some of its
/// alternatives.
template <class I, class = void>
inline constexpr bool kHasIndex = false;
template <class I>
inline constexpr bool kHasIndex<I, std::void_t<decltype(*(std::declval<I&>() + std::ptrdiff_t{})),
                                               decltype(std::declval<I&>() < std::declval<I&>())>> =
    std::is_base_of_v<RandomAccess, decltype(category_of<I>(0))>;

/// Whether `end - begin` gives the number of elements. The iterator types may differ in const only.
template <class End, class Begin, class = void>
inline constexpr bool kHasOffset = false;
template <class End, class Begin>
inline constexpr bool kHasOffset<End, Begin, std::void_t<decltype(std::declval<End&>() - std::declval<Begin&>())>> =
    std::is_convertible_v<decltype(std::declval<End&>() - std::declval<Begin&>()), std::ptrdiff_t>;

/// An iterator over the results of a function for each element of another iterator.
template <class I, class F>
struct Projected {
  I base;
  F project;
  using iterator_category = decltype(category_of<I>(0));
  decltype(auto) operator*() const { return project(*base); }
  Projected& operator++() {
    ++base;
    return *this;
  }
  template <class J>
  bool operator!=(const Projected<J, F>& other) const {
    return base != other.base;
  }
  // Only for random access iterators.
  template <class J = I, class = decltype(std::declval<const J&>() < std::declval<const J&>())>
  bool operator<(const Projected& other) const {
    return base < other.base;
  }
  template <class J, class = decltype(std::declval<const I&>() - std::declval<const J&>())>
  std::ptrdiff_t operator-(const Projected<J, F>& other) const {
    return base - other.base;
  }
  template <class J = I, class = decltype(std::declval<const J&>() + std::ptrdiff_t{})>
  Projected operator+(std::ptrdiff_t by) const {
    return {base + by, project};
  }
};

/// A function that returns such an iterator.
template <class T, class B, class F>
auto make_projected(B begin, F project) {
  return [begin, project](const Ref<T>& owner) {
    using Base = Bare<decltype(call_with<T>(begin, owner))>;
    return Projected<Base, F>{call_with<T>(begin, owner), project};
  };
}

/// A function that returns the next element; the host makes an iterator of it.
template <class Element>
struct ElementsOf {
  Function next;
};

/// A function that returns a function, which returns one element per call, and Missing at the end.
template <class T, bool kInside, class B, class E>
auto make_walk(B begin, E end) {
  return [begin, end](const Ref<T>& owner) mutable {
    using Begin = Bare<decltype(call_with<T>(begin, owner))>;
    using End = Bare<decltype(call_with<T>(end, owner))>;
    using Item = Bare<decltype(*std::declval<Begin&>())>;
    if constexpr (kHasIndex<Begin> && kHasOffset<End, Begin>) {
      return ElementsOf<Item>{Function::from(IndexWalk<T, B, E, kInside>{{owner}, begin, end})};
    } else {
      Walk<T, Begin, End, kInside> walk{{owner}, call_with<T>(begin, owner), call_with<T>(end, owner)};
      return ElementsOf<Item>{Function::from(static_cast<decltype(walk)&&>(walk))};
    }
  };
}

/// The name of the element type: elements may be references to objects that cannot be copied.
template <class Element, bool = kIsObjectClass<Element>>
ANYFFI_HIDDEN_ inline constexpr auto kElementName = kResultName<Element>;
template <class Element>
ANYFFI_HIDDEN_ inline constexpr auto kElementName<Element, true> = kTypeKeyOf<Element>;

}  // namespace detail ANYFFI_HIDDEN_

template <>
struct Traits<detail::WalkItem> {
  static constexpr FixedText name{"Any"};
  static AnyffiValue store(const detail::WalkItem& item) { return item.owned; }
};

/// Not defined for elements without a conversion, so that the compile error is the same as for other results.
template <class Element>
struct Traits<detail::ElementsOf<Element>,
              std::enable_if_t<detail::kIsObjectClass<Element> || detail::HasTraits<Element>::value>> {
  ANYFFI_HIDDEN_ static constexpr auto name = "Iterator[" + detail::kElementName<Element> + "]";
  static AnyffiValue store(const detail::ElementsOf<Element>& elements) {
    return Traits<Function>::store(elements.next);
  }
};

}  // namespace anyffi

#endif  // ANYFFI_DETAIL_CLASS_ITERATION_H_
