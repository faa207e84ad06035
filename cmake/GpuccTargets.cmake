# How every library, tool and test of gpucc is declared.
#
#   gpucc_add_library(NAME [PLAIN] [EXCEPTIONS] [SOURCES ...] [DEPS targets...])
#     A static library of all .cpp files below the current folder (or SOURCES).
#     PLAIN: C++ standard library only, no LLVM/MLIR headers are visible.
#   gpucc_add_tablegen(NAME file.td PREFIX generator...)  see dialects/
#   gpucc_add_gtest(NAME SOURCES ... LIBS targets... [PLAIN])
# RelWithAssert: optimized, assertions on, no debug information (the default preset). -O1 compiles a
# third faster than -O2 and costs the compiler itself little; the PLAIN libraries hold the searches
# and solvers, which -O2 makes twice as fast.
set(CMAKE_CXX_FLAGS_RELWITHASSERT "-O1")
set(CMAKE_C_FLAGS_RELWITHASSERT "-O1")
set(GPUCC_WARNINGS -Wall -Wextra -Wno-unused-parameter -Werror=return-type)
if(GPUCC_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr,function
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang) # so that fuzzers see which code their inputs reach
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
endif()

function(_gpucc_common target plain exceptions)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include
                             PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE ${GPUCC_WARNINGS})
  if(exceptions)
    target_compile_options(${target} PRIVATE -fexceptions)
  elseif(NOT plain)
    target_compile_options(${target} PRIVATE -fno-exceptions)
  endif()
  if(NOT plain)
    target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/include)
    target_include_directories(${target} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
    target_compile_definitions(${target} PRIVATE ${GPUCC_LLVM_DEFINITIONS})
    if(TARGET gpucc-pch AND NOT exceptions)
      target_compile_options(${target} PRIVATE -Xclang -fno-pch-timestamp)
      target_precompile_headers(${target} REUSE_FROM gpucc-pch)
    endif()
  endif()
endfunction()

# Generated headers of this folder and those below it; libraries that list the result in DEPS wait
# for them too.
function(_gpucc_generated target)
  get_property(generated GLOBAL PROPERTY GPUCC_GENERATED)
  foreach(entry ${generated})
    string(REPLACE "|" ";" entry "${entry}")
    list(GET entry 0 dir)
    list(GET entry 1 gen)
    string(FIND "${dir}/" "${CMAKE_CURRENT_SOURCE_DIR}/" at)
    if(at EQUAL 0)
      add_dependencies(${target} ${gen})
    endif()
  endforeach()
endfunction()

function(gpucc_add_library name)
  cmake_parse_arguments(A "PLAIN;EXCEPTIONS" "" "SOURCES;DEPS" ${ARGN})
  if(NOT A_SOURCES)
    file(GLOB_RECURSE A_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  endif()
  if(NOT A_SOURCES) # a folder that has headers only (so far)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${A_DEPS})
    _gpucc_generated(${name})
    return()
  endif()
  add_library(${name} STATIC ${A_SOURCES})
  _gpucc_common(${name} "${A_PLAIN}" "${A_EXCEPTIONS}")
  if(A_PLAIN AND CMAKE_BUILD_TYPE STREQUAL "RelWithAssert")
    target_compile_options(${name} PRIVATE -O2)
  endif()
  _gpucc_generated(${name})
  target_link_libraries(${name} PUBLIC ${A_DEPS})
endfunction()

function(gpucc_add_tool name)
  cmake_parse_arguments(A "EXCEPTIONS" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  _gpucc_common(${name} "" "${A_EXCEPTIONS}")
  target_link_libraries(${name} PRIVATE ${A_DEPS})
endfunction()

function(gpucc_add_gtest name)
  cmake_parse_arguments(A "PLAIN;EXCEPTIONS" "" "SOURCES;LIBS" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${A_SOURCES})
  _gpucc_common(${name} "${A_PLAIN}" "${A_EXCEPTIONS}")
  target_link_libraries(${name} PRIVATE ${A_LIBS} GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test-bin)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\] All")
endfunction()
