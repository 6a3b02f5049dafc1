# tenon_add_plugin and tenon_add_proto_library: in this tree and, installed, for everyone who says find_package(tenon).

# tenon_add_plugin(NAME SOURCES … [LINK …] [PROTOBUF])
#   A loadable module NAME.so in <build>/plugins. It links tenon::spi and what LINK names (third-party libraries,
#   proto libraries), never core and never another plugin. Undefined symbols are link errors; only the plugin
#   constant is exported; it is never unloaded. PROTOBUF: it handles generated protobuf classes.
#   With TENON_STATIC_PLUGINS (and not TENON_PLUGINS_AS_FILES) it is a static library whose constant has a name of its
#   own.
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
  set(static OFF)
  if(TENON_STATIC_PLUGINS AND NOT TENON_PLUGINS_AS_FILES)
    set(static ON)
    string(MAKE_C_IDENTIFIER ${NAME} symbol)
    add_library(${NAME} STATIC ${ARG_SOURCES})
    target_compile_definitions(${NAME} PRIVATE tenon_plugin=tenon_plugin_${symbol})
  else()
    tenon_check_assertions(${NAME})
    add_library(${NAME} MODULE ${ARG_SOURCES})
  endif()
  set_property(GLOBAL APPEND PROPERTY TENON_PLUGINS ${NAME})
  target_link_libraries(${NAME} PRIVATE tenon::spi ${ARG_LINK})
  if(TARGET tenon_options)
    target_link_libraries(${NAME} PRIVATE tenon_options)
  endif()
  if(ARG_PROTOBUF)
    target_link_libraries(${NAME} PRIVATE tenon::protobuf)
    target_compile_definitions(${NAME} PRIVATE TENON_PLUGIN_USES_PROTOBUF)
  endif()
  set_target_properties(${NAME} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(static)
    return()
  endif()
  set_target_properties(${NAME} PROPERTIES PREFIX "")
  if(DEFINED TENON_PLUGIN_DIR)
    set_target_properties(${NAME} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${TENON_PLUGIN_DIR})
  endif()
  target_link_options(${NAME} PRIVATE -Wl,-z,nodelete)
  if(NOT TENON_SANITIZE)
    target_link_options(${NAME} PRIVATE -Wl,-z,defs)
  endif()
endfunction()

# Outside the tree: a host refuses plugins whose assertions differ from its own. Better known now than then.
function(tenon_check_assertions NAME)
  if(NOT DEFINED TENON_INSTALLED_NDEBUG)
    return()
  endif()
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  set(flags "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
  if(TENON_INSTALLED_NDEBUG AND NOT flags MATCHES "-DNDEBUG")
    message(FATAL_ERROR "tenon_add_plugin(${NAME}): the installed Tenon was built with NDEBUG and refuses plugins "
                        "built without. Say -DCMAKE_BUILD_TYPE=Release or RelWithDebInfo, or "
                        "-DCMAKE_CXX_FLAGS=-DNDEBUG")
  elseif(NOT TENON_INSTALLED_NDEBUG AND flags MATCHES "-DNDEBUG")
    message(FATAL_ERROR "tenon_add_plugin(${NAME}): the installed Tenon was built without NDEBUG and refuses plugins "
                        "built with it. Say -DCMAKE_BUILD_TYPE=Debug")
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
  set(generator protoc-gen-tenon)
  if(TARGET tenon::protoc-gen-tenon)
    set(generator tenon::protoc-gen-tenon)  # an installed Tenon's
  endif()
  if(NOT TARGET protobuf::protoc)
    message(FATAL_ERROR "tenon_add_proto_library(${NAME}): protobuf was not found; install it with its headers and "
                        "protoc, and say find_package(tenon REQUIRED COMPONENTS protobuf)")
  endif()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.proto-gen)
  set(roots)
  foreach(dir IN LISTS ARG_BASE ARG_IMPORT_DIRS)
    get_filename_component(dir ${dir} ABSOLUTE)
    list(APPEND roots ${dir})
  endforeach()
  list(APPEND roots ${CMAKE_CURRENT_SOURCE_DIR})
  set(imported)
  foreach(library IN LISTS ARG_LINK ITEMS tenon::protobuf)
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
      COMMAND protobuf::protoc ${search} --cpp_out=${out} --plugin=protoc-gen-tenon=$<TARGET_FILE:${generator}>
              --tenon_out=${out} --dependency_out=${stem}.d ${path}
      DEPENDS ${path} ${generator}
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
