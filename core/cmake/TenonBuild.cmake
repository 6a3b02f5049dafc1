# How everything in this tree is compiled. The two functions for plugins and .proto files are in TenonFunctions.cmake.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

set(TENON_SANITIZE "" CACHE STRING "Sanitizers: 'address,undefined' or 'thread'")
find_program(TENON_CCACHE ccache)
if(TENON_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TENON_CCACHE})
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(TENON_PLUGIN_DIR ${CMAKE_BINARY_DIR}/plugins)

find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(Protobuf REQUIRED)

# Warnings and code generation for Tenon's own code. Linked privately by every target of this tree.
add_library(tenon_options INTERFACE)
target_compile_options(tenon_options INTERFACE -Wall -Wextra -Werror -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual
                                               -Wno-missing-field-initializers -fno-plt -fno-semantic-interposition)
# Installed files do not say where they were built. (Debug builds do: debuggers look for the sources there.)
target_compile_options(tenon_options INTERFACE
  $<$<NOT:$<CONFIG:Debug>>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports false positives from inlined std::string and coroutine frames at -O2.
  target_compile_options(tenon_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow
                                                 -Wno-array-bounds -Wno-mismatched-new-delete)
endif()
if(TENON_SANITIZE)
  add_compile_options(-fsanitize=${TENON_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TENON_SANITIZE})
  if(TENON_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # Asio uses atomic_thread_fence, which ThreadSanitizer does not model
  endif()
  if(TENON_SANITIZE MATCHES "thread")
    set_property(TARGET protobuf::libprotobuf APPEND PROPERTY INTERFACE_COMPILE_OPTIONS
      "SHELL:-include ${CMAKE_CURRENT_LIST_DIR}/protobuf_under_tsan.hpp")
  endif()
  if(TENON_SANITIZE MATCHES "undefined")
    # protobuf and Boost classes cross libraries without exported type information.
    add_compile_options(-fno-sanitize=vptr)
  endif()
endif()

# ON: the tree's plugins are linked into the programs instead of being files (TenonStaticPlugins.cmake).
option(TENON_STATIC_PLUGINS "Link the plugins into the programs" OFF)

include(${CMAKE_CURRENT_LIST_DIR}/TenonFunctions.cmake)
