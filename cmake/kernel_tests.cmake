# Tests of kernels alone, without tasks: their definitions, the bits that x86 gives, instructions per site.

file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/kernels/*_test.cpp")
add_executable(kernel_tests ${sources} "${PROJECT_SOURCE_DIR}/tests/unit/main.cpp")
quarkstar_settings(kernel_tests)
target_link_libraries(kernel_tests PRIVATE quarkstar_reference)
target_compile_options(kernel_tests PRIVATE $<$<CONFIG:Release>:-O1>)  # as the other tests
foreach(file IN LISTS sources)
  cmake_path(GET file STEM stem)
  string(REGEX REPLACE "_test$" "" stem "${stem}")
  quarkstar_test(kernels.${stem} kernel_tests "--source-file=*/kernels/${stem}_test.cpp")
endforeach()

# Instructions of kernels are counted by whoever changes one, not in every test run (CONTRIBUTING.md): these tests are of the
# configuration `instructions` (ctest -C). Counts depend on the compiler, not on the build type: kernels are always compiled with -O3.
if(NOT QUARKSTAR_SANITIZE AND NOT QUARKSTAR_FUZZ)
  add_executable(count_instructions EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/tests/kernels/count_instructions.cpp")
  quarkstar_settings(count_instructions)
  target_link_libraries(count_instructions PRIVATE quarkstar_reference)
  string(REGEX MATCH "^[0-9]+" compiler_release "${CMAKE_CXX_COMPILER_VERSION}")
  get_property(archs GLOBAL PROPERTY QUARKSTAR_VECTOR_ARCHS)
  foreach(arch scalar ${archs})
    if(NOT CMAKE_CROSSCOMPILING)
      quarkstar_test(kernels.instructions.${arch} bash "${PROJECT_SOURCE_DIR}/tests/kernels/instructions.sh"
        "$<TARGET_FILE:count_instructions>" ${arch} "${CMAKE_CXX_COMPILER_ID} ${compiler_release}"
        CONFIGURATIONS instructions)
    endif()
  endforeach()
endif()
