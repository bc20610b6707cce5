# Defines the target anyffi::anyffi. `anyffi-config --cmakedir` prints its directory.
get_filename_component(_anyffi_package "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET anyffi::anyffi)
  add_library(anyffi::anyffi SHARED IMPORTED)
  set_target_properties(
    anyffi::anyffi
    PROPERTIES
      IMPORTED_LOCATION "${_anyffi_package}/lib/${CMAKE_SHARED_LIBRARY_PREFIX}anyffi${CMAKE_SHARED_LIBRARY_SUFFIX}"
      INTERFACE_INCLUDE_DIRECTORIES "${_anyffi_package}/include"
      INTERFACE_COMPILE_FEATURES cxx_std_17
  )
endif()
unset(_anyffi_package)
