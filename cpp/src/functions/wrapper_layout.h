/// \file
/// The layout of wrappers, as the front end declares it.
#ifndef ANYFFI_SRC_FUNCTIONS_WRAPPER_LAYOUT_H_
#define ANYFFI_SRC_FUNCTIONS_WRAPPER_LAYOUT_H_

#include <anyffi/host_api.h>

#include "core/host.h"

namespace anyffi::runtime {

/// Written once, before the front end makes its first wrapper.
extern AnyffiWrapperLayout wrapper_layout;

template <typename T>
T* at(void* object, uint32_t offset) {
  return reinterpret_cast<T*>(static_cast<char*>(object) + offset);
}

/// A pointer into a wrapper's memory, read or written as a T.
template <typename T>
T* content_of(void* memory) {
  return at<T>(memory, wrapper_layout.content_offset);
}

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_FUNCTIONS_WRAPPER_LAYOUT_H_
