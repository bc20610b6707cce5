/// \file
/// Objects that are never destroyed.
#ifndef ANYFFI_CORE_IMMORTAL_H_
#define ANYFFI_CORE_IMMORTAL_H_

#include <new>

namespace anyffi::runtime {

/// Static memory with an object that is never destroyed: others use it while the process exits. Making it allocates
/// nothing but what the constructor of T does, so functions that cannot report an error may be the first to use it.
template <class T>
class Immortal {
 public:
  Immortal() { new (memory_) T(); }
  Immortal(const Immortal&) = delete;
  Immortal& operator=(const Immortal&) = delete;
  T& operator*() noexcept { return *std::launder(reinterpret_cast<T*>(memory_)); }

 private:
  alignas(T) unsigned char memory_[sizeof(T)];
};

}  // namespace anyffi::runtime

#endif  // ANYFFI_CORE_IMMORTAL_H_
