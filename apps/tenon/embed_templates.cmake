# cmake -DROOT=templates -DOUT=templates.cpp -P embed_templates.cmake: the files below ROOT as constants of a program.
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/*.in)
list(SORT files)
set(entries)
foreach(file IN LISTS files)
  file(READ ${ROOT}/${file} text)
  string(REGEX REPLACE "\\.in$" "" path ${file})
  string(APPEND entries "    {\"${path}\", R\"TEMPLATE(${text})TEMPLATE\"},\n")
endforeach()
file(WRITE ${OUT} "// Made by embed_templates.cmake.
#include \"new_project.hpp\"

namespace tenon::cli {

namespace {
constexpr ProjectTemplate all[] = {
${entries}};
}  // namespace

std::span<const ProjectTemplate> project_templates() { return all; }

}  // namespace tenon::cli
")
