# TENON_STATIC_PLUGINS: every program that links tenon::core holds the tree's plugins and a constant table of them,
# `tenon_static_plugins`, which core finds through a weak reference (core/src/plugin_host/built_in.cpp). Nothing
# registers itself, and core names no plugin: the list is made here, from the tenon_add_plugin() calls so far.
get_property(plugins GLOBAL PROPERTY TENON_PLUGINS)
list(SORT plugins)
set(declarations)
set(entries)
foreach(plugin IN LISTS plugins)
  string(MAKE_C_IDENTIFIER ${plugin} symbol)
  string(APPEND declarations "extern const tenon::Plugin tenon_plugin_${symbol};\n")
  string(APPEND entries "    &tenon_plugin_${symbol},\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/static_plugins.cpp CONTENT [[
// Made by TenonStaticPlugins.cmake.
#include "tenon/plugin.hpp"

extern "C" {
@declarations@
__attribute__((visibility("default"))) extern const tenon::Plugin* const tenon_static_plugins[] = {
@entries@    nullptr,
};
}
]] @ONLY)

add_library(tenon_static_table OBJECT ${PROJECT_BINARY_DIR}/static_plugins.cpp)
target_link_libraries(tenon_static_table PRIVATE tenon::spi tenon_options)

# The table is in programs only; the archives give what it names.
add_library(tenon_static_plugins INTERFACE)
set(is_program $<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>)
target_sources(tenon_static_plugins INTERFACE $<${is_program}:$<TARGET_OBJECTS:tenon_static_table>>)
target_link_libraries(tenon_static_plugins INTERFACE ${plugins})
target_link_libraries(tenon_core INTERFACE $<BUILD_INTERFACE:tenon_static_plugins>)
