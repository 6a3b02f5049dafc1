# What `cmake --install` puts where, below a prefix that may be moved afterwards:
#
#   bin/                     tenon, tenon-probe, protoc-gen-tenon
#   lib/                     libtenon_spi, libtenon_core, libtenon_protobuf
#   lib/tenon/               what the programs need and nobody else links
#   lib/tenon/plugins/       the plugins; `tenon` and core look for them there
#   lib/cmake/tenon/         find_package(tenon)
#   include/tenon/           spi, core and serialize-pb in one folder; contract/ holds the suites for plugin authors
#   share/tenon/examples/    sources to read
#   share/doc/tenon/         LICENSE, README.md
include(CMakePackageConfigHelpers)

set(package_dir lib/cmake/tenon)
set(plugin_dir lib/tenon/plugins)

# Libraries and the programs that builds of others run.
foreach(library IN ITEMS spi core protobuf)
  set_target_properties(tenon_${library} PROPERTIES EXPORT_NAME ${library} INSTALL_RPATH "$ORIGIN")
  target_include_directories(tenon_${library} INTERFACE $<INSTALL_INTERFACE:include>)
endforeach()
set_target_properties(tenon tenon-probe protoc-gen-tenon PROPERTIES
                      INSTALL_RPATH "$ORIGIN/../lib;$ORIGIN/../lib/tenon")
install(TARGETS tenon_spi tenon_core tenon_protobuf protoc-gen-tenon EXPORT tenonTargets
        LIBRARY DESTINATION lib RUNTIME DESTINATION bin)
install(TARGETS tenon tenon-probe RUNTIME DESTINATION bin)
# `tenon bench` measures calls of this service.
set_target_properties(bench_echo_proto PROPERTIES INSTALL_RPATH "$ORIGIN/..")
install(TARGETS bench_echo_proto LIBRARY DESTINATION lib/tenon)

# Plugins, those of the tests and examples excepted.
if(NOT TENON_STATIC_PLUGINS)
  get_property(plugins GLOBAL PROPERTY TENON_PLUGINS)
  foreach(plugin IN LISTS plugins)
    get_target_property(source_dir ${plugin} SOURCE_DIR)
    cmake_path(IS_PREFIX PROJECT_SOURCE_DIR ${source_dir} NORMALIZE own)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${source_dir})
    if(own AND NOT folder MATCHES "^(tests|apps/examples)/")
      set_target_properties(${plugin} PROPERTIES INSTALL_RPATH "$ORIGIN/../..;$ORIGIN/..")
      install(TARGETS ${plugin} LIBRARY DESTINATION ${plugin_dir})
    endif()
  endforeach()
endif()

foreach(folder IN ITEMS spi core serialize-pb)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/include/ DESTINATION include FILES_MATCHING PATTERN "*.hpp"
                                                                                              PATTERN "*.proto")
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/serialize-pb/include/tenon/method.pb.h DESTINATION include/tenon)

# Contract suites, with what they include of tests/support: "contract/…" and "support/…" become "tenon/contract/…".
set(contract_dir ${PROJECT_BINARY_DIR}/contract-headers)
file(REMOVE_RECURSE ${contract_dir})
file(GLOB unread CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/contract/*.hpp)
set(read)
while(unread)
  list(POP_FRONT unread header)
  list(APPEND read ${header})
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(STRINGS ${header} lines REGEX "^#include \"")
  get_filename_component(beside ${header} DIRECTORY)
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1" name "${line}")
    foreach(included IN ITEMS ${PROJECT_SOURCE_DIR}/tests/${name} ${beside}/${name})
      if(EXISTS ${included} AND NOT included IN_LIST read AND NOT included IN_LIST unread)
        list(APPEND unread ${included})
      endif()
    endforeach()
  endforeach()
  file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/tests ${header})
  string(REGEX REPLACE "^contract/" "" name ${name})
  file(READ ${header} text)
  string(REPLACE "#include \"support/" "#include \"tenon/contract/support/" text "${text}")
  string(REPLACE "#include \"contract/" "#include \"tenon/contract/" text "${text}")
  file(WRITE ${contract_dir}/${name} "${text}")
endwhile()
install(DIRECTORY ${contract_dir}/ DESTINATION include/tenon/contract)

# find_package(tenon): what must be as it was when this Tenon was built, the targets, the two functions.
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
set(TENON_INSTALLED_NDEBUG OFF)
if("${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" MATCHES "-DNDEBUG")
  set(TENON_INSTALLED_NDEBUG ON)
endif()
set(TENON_INSTALLED_PLUGIN_DIR ${plugin_dir})
set(TENON_INSTALLED_INCLUDE_DIR include)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tenonConfig.cmake.in ${PROJECT_BINARY_DIR}/tenonConfig.cmake
                              INSTALL_DESTINATION ${package_dir} 
                              PATH_VARS TENON_INSTALLED_PLUGIN_DIR TENON_INSTALLED_INCLUDE_DIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tenonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tenonConfig.cmake ${PROJECT_BINARY_DIR}/tenonConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/TenonFunctions.cmake
        DESTINATION ${package_dir})
install(EXPORT tenonTargets NAMESPACE tenon:: DESTINATION ${package_dir})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/apps/examples DESTINATION share/tenon)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION share/doc/tenon)
