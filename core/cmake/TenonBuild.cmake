# How everything in this tree is compiled, and the two helper functions (tenon_add_plugin, tenon_add_proto_library).

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

# tenon_add_plugin(NAME SOURCES … [LINK …] [PROTOBUF])
#   A loadable module NAME.so in <build>/plugins. It links tenon::spi and what LINK names (third-party libraries,
#   proto libraries), never core and never another plugin. Undefined symbols are link errors; only the plugin
#   constant is exported; it is never unloaded. PROTOBUF: it handles generated protobuf classes.
function(tenon_add_plugin NAME)
  cmake_parse_arguments(ARG "PROTOBUF" "" "SOURCES;LINK" ${ARGN})
  if(NOT ARG_SOURCES)
    message(FATAL_ERROR "tenon_add_plugin(${NAME}): SOURCES is missing")
  endif()
  foreach(source IN LISTS ARG_SOURCES)
    if(source MATCHES "\\.pb\\.cc$")
      message(FATAL_ERROR "tenon_add_plugin(${NAME}): ${source} must live in a tenon_add_proto_library; two copies of "
                          "one .proto in a process abort it")
    endif()
  endforeach()
  add_library(${NAME} MODULE ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE tenon::spi ${ARG_LINK})
  if(TARGET tenon_options)
    target_link_libraries(${NAME} PRIVATE tenon_options)
  endif()
  if(ARG_PROTOBUF)
    target_link_libraries(${NAME} PRIVATE tenon::protobuf)
    target_compile_definitions(${NAME} PRIVATE TENON_PLUGIN_USES_PROTOBUF)
  endif()
  set_target_properties(${NAME} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(DEFINED TENON_PLUGIN_DIR)
    set_target_properties(${NAME} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${TENON_PLUGIN_DIR})
  endif()
  target_link_options(${NAME} PRIVATE -Wl,-z,nodelete)
  if(NOT TENON_SANITIZE)
    target_link_options(${NAME} PRIVATE -Wl,-z,defs)
  endif()
endfunction()

# tenon_add_proto_library(NAME PROTOS … [BASE dir] [IMPORT_DIRS …] [LINK …])
#   One SHARED library for a set of .proto files: messages by protoc, stubs and skeletons by protoc-gen-tenon
#   (FILE.pb.h, FILE.tenon.h). Everything that uses these messages (host, service plugins, tests) links this one
#   library, so that a process holds one copy of each descriptor.
#   A file is known to protoc, and its headers to C++, by its path below BASE or the first of IMPORT_DIRS that contains
#   it, else below the current source directory (else by its bare name). LINK: proto libraries that own imported files.
function(tenon_add_proto_library NAME)
  cmake_parse_arguments(ARG "" "BASE" "PROTOS;IMPORT_DIRS;LINK" ${ARGN})
  if(NOT ARG_PROTOS OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tenon_add_proto_library(${NAME}): PROTOS is missing, or unknown arguments: "
                        "${ARG_UNPARSED_ARGUMENTS}")
  endif()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.proto-gen)
  set(roots)
  foreach(dir IN LISTS ARG_BASE ARG_IMPORT_DIRS)
    get_filename_component(dir ${dir} ABSOLUTE)
    list(APPEND roots ${dir})
  endforeach()
  list(APPEND roots ${CMAKE_CURRENT_SOURCE_DIR})
  set(imported)
  foreach(library IN LISTS ARG_LINK)
    if(NOT TARGET ${library})
      message(FATAL_ERROR "tenon_add_proto_library(${NAME}): LINK ${library} is not defined yet")
    endif()
    get_target_property(dirs ${library} TENON_PROTO_ROOTS)
    if(dirs)
      list(APPEND imported ${dirs})
    endif()
  endforeach()

  set(generated)
  set(used_roots)
  foreach(proto IN LISTS ARG_PROTOS)
    get_filename_component(path ${proto} ABSOLUTE)
    get_filename_component(root ${path} DIRECTORY)
    foreach(dir IN LISTS roots)
      cmake_path(IS_PREFIX dir ${path} NORMALIZE inside)
      if(inside)
        set(root ${dir})
        break()
      endif()
    endforeach()
    list(APPEND used_roots ${root})
    file(RELATIVE_PATH name ${root} ${path})
    string(REGEX REPLACE "\\.proto$" "" stem ${out}/${name})
    get_filename_component(stem_dir ${stem} DIRECTORY)
    file(MAKE_DIRECTORY ${stem_dir})
    set(search ${root} ${roots} ${imported})
    list(REMOVE_DUPLICATES search)
    list(TRANSFORM search PREPEND "-I")
    add_custom_command(
      OUTPUT ${stem}.pb.cc ${stem}.pb.h ${stem}.tenon.cc ${stem}.tenon.h
      COMMAND protobuf::protoc ${search} --cpp_out=${out} --plugin=protoc-gen-tenon=$<TARGET_FILE:protoc-gen-tenon>
              --tenon_out=${out} --dependency_out=${stem}.d ${path}
      DEPENDS ${path} protoc-gen-tenon
      DEPFILE ${stem}.d
      COMMENT "Generating messages and stubs of ${name}"
      VERBATIM)
    list(APPEND generated ${stem}.pb.cc ${stem}.tenon.cc)
    set_source_files_properties(${stem}.pb.cc PROPERTIES COMPILE_OPTIONS "-w")
  endforeach()
  list(REMOVE_DUPLICATES used_roots)

  add_library(${NAME} SHARED ${generated})
  target_include_directories(${NAME} SYSTEM PUBLIC $<BUILD_INTERFACE:${out}>)
  target_link_libraries(${NAME} PUBLIC tenon::spi tenon::protobuf ${ARG_LINK})
  # Generated classes carry no export annotations.
  set_target_properties(${NAME} PROPERTIES CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF
                                           TENON_PROTO_ROOTS "${used_roots}")
  if(NOT TENON_SANITIZE)
    # An imported file that nobody owns is seen here, not when a plugin is loaded.
    target_link_options(${NAME} PRIVATE -Wl,-z,defs)
  endif()
endfunction()
