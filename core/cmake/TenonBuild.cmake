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

# tenon_add_proto_library(NAME PROTOS … [IMPORT_DIRS …])
#   One SHARED library for a set of .proto files: messages by protoc, stubs and skeletons by protoc-gen-tenon
#   (NAME.pb.h, NAME.tenon.h). Everything that uses these messages links this one library, so that a process holds one
#   copy of each descriptor.
function(tenon_add_proto_library NAME)
  cmake_parse_arguments(ARG "" "" "PROTOS;IMPORT_DIRS" ${ARGN})
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.proto-gen)
  file(MAKE_DIRECTORY ${out})
  set(generated)
  set(includes)
  foreach(dir IN LISTS ARG_IMPORT_DIRS)
    get_filename_component(dir ${dir} ABSOLUTE)
    list(APPEND includes -I${dir})
  endforeach()
  foreach(proto IN LISTS ARG_PROTOS)
    get_filename_component(path ${proto} ABSOLUTE)
    get_filename_component(base ${proto} NAME_WE)
    get_filename_component(dir ${path} DIRECTORY)
    add_custom_command(
      OUTPUT ${out}/${base}.pb.cc ${out}/${base}.pb.h ${out}/${base}.tenon.cc ${out}/${base}.tenon.h
      COMMAND protobuf::protoc -I${dir} ${includes} --cpp_out=${out}
              --plugin=protoc-gen-tenon=$<TARGET_FILE:protoc-gen-tenon> --tenon_out=${out} ${path}
      DEPENDS ${path} protoc-gen-tenon
      COMMENT "Generating ${base} messages and stubs"
      VERBATIM)
    list(APPEND generated ${out}/${base}.pb.cc ${out}/${base}.tenon.cc)
    set_source_files_properties(${out}/${base}.pb.cc PROPERTIES COMPILE_OPTIONS "-w")
  endforeach()
  add_library(${NAME} SHARED ${generated})
  target_include_directories(${NAME} SYSTEM PUBLIC $<BUILD_INTERFACE:${out}>)
  # Generated classes carry no export annotations.
  set_target_properties(${NAME} PROPERTIES CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF)
  target_link_libraries(${NAME} PUBLIC tenon::spi tenon::protobuf)
endfunction()
