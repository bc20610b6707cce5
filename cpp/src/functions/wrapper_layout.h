/// \file
/// Wrappers as the front end declares them.
#ifndef ANYFFI_SRC_FUNCTIONS_WRAPPER_LAYOUT_H_
#define ANYFFI_SRC_FUNCTIONS_WRAPPER_LAYOUT_H_

#include <anyffi/host_api.h>

#include "core/host.h"

namespace anyffi::runtime {

/// Written at the front end's start, before it makes the first wrapper.
extern AnyffiWrapperLayout wrapper_layout;

template <typename T>
T* at(void* object, uint32_t offset) {
  return reinterpret_cast<T*>(static_cast<char*>(object) + offset);
}

/// The content of memory.
template <typename T>
T* content_of(void* memory) {
  return at<T>(memory, wrapper_layout.content_offset);
}

}  // namespace anyffi::runtime

#endif  // ANYFFI_SRC_FUNCTIONS_WRAPPER_LAYOUT_H_
