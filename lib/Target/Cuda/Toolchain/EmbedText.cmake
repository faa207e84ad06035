# gpucc_embed_text(OUT FUNCTION files...): appends to the C++ file OUT a function that returns the
# texts of the files under their base names. Re-runs when one of them changes.
function(gpucc_embed_text out function)
  set(texts "")
  set(table "")
  set(index 0)
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME)
    file(READ ${file} hex HEX) # not as text: CMake lists would eat semicolons and brackets
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" hex "${hex}")
    string(APPEND texts "static const char ${function}${index}[] =\n\"${hex}\";\n")
    string(APPEND table "      {\"${name}\", {${function}${index}, sizeof(${function}${index}) - 1}},\n")
    math(EXPR index "${index} + 1")
  endforeach()
  file(APPEND ${out} "${texts}const std::vector<KernelHeader> &gpucc::cuda::${function}() {
  static const std::vector<KernelHeader> all = {\n${table}  };
  return all;\n}\n")
endfunction()
