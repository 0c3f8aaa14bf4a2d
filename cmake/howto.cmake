# What docs/howto/ tells people to write, taken from the pages: battery.howto runs the solver, battery.howto_operator the operator.
# cli.howto_action and cli.howto_solver run the command with both. The other blocks are compiled only (tests/cli/howto.sh).

set(folder "${PROJECT_BINARY_DIR}/howto")
set(solver solvers/krylov/mr_steps.hpp solvers/krylov/mr.cpp solvers/krylov/solvers.inc)
set(operator tests/battery/twist_test.cpp codelets/actions/actions.inc)
foreach(file kind.cpp action.hpp even_odd_twisted.hpp twist.hpp twist_site.hpp twist_kernels.hpp twist_kernel.cpp twist_codelet.cpp twist_cuda.hpp)
  list(APPEND operator codelets/actions/twist/${file})
endforeach()
if(QUARKSTAR_CUDA)
  list(APPEND solver solvers/krylov/mr_steps.cu)
  list(APPEND operator codelets/actions/twist/twist_cuda.cu)
endif()
set(examples)
foreach(page solver operator)
  list(TRANSFORM ${page} PREPEND "${folder}/" OUTPUT_VARIABLE written)
  add_custom_command(OUTPUT ${written}
    COMMAND bash "${PROJECT_SOURCE_DIR}/cmake/howto_blocks.sh" "${PROJECT_SOURCE_DIR}" "${folder}" docs/howto/${page}.md ${${page}}
    DEPENDS "${PROJECT_SOURCE_DIR}/cmake/howto_blocks.sh" "${PROJECT_SOURCE_DIR}/docs/howto/${page}.md" VERBATIM)
  list(APPEND examples ${written})
endforeach()
# A target of its own, or else the commands would wait for the libraries, and every test for the commands.
add_custom_target(howto_examples DEPENDS ${examples})

set(sources ${examples})
list(FILTER sources INCLUDE REGEX "/(codelets|solvers)/.*\\.(cpp|cu)$")
set(kernels ${sources})
list(FILTER kernels INCLUDE REGEX "_kernel\\.cpp$")
list(FILTER sources EXCLUDE REGEX "_kernel\\.cpp$")
quarkstar_layer(howto SOURCES ${sources} LINK quarkstar_solvers)
target_include_directories(quarkstar_howto PUBLIC "${folder}")
target_compile_options(quarkstar_howto PRIVATE "${cuda_options}")
add_dependencies(quarkstar_howto howto_examples)

# Kernels as the project's, once per architecture.
get_property(architectures GLOBAL PROPERTY QUARKSTAR_VECTOR_ARCHS)
foreach(architecture scalar ${architectures})
  set(target quarkstar_howto_kernels_${architecture})
  add_library(${target} OBJECT ${kernels})
  foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS LINK_LIBRARIES)
    get_target_property(value quarkstar_kernels_${architecture} ${property})
    set_property(TARGET ${target} PROPERTY ${property} ${value})
  endforeach()
  target_include_directories(${target} PRIVATE "${folder}")
  add_dependencies(${target} howto_examples)
  target_sources(quarkstar_howto PRIVATE "$<TARGET_OBJECTS:${target}>")
endforeach()

set(tests ${examples})
list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
target_sources(battery_tests PRIVATE ${tests})
target_link_libraries(battery_tests PRIVATE quarkstar_howto)
quarkstar_test(battery.howto_operator battery_tests "--source-file=*docs/howto/operator.md")

# The command with one action and one solver more: its lists of them are compiled anew.
if(TARGET quarkstar)
  add_executable(quarkstar_howto_command $<TARGET_OBJECTS:quarkstar> "${PROJECT_SOURCE_DIR}/codelets/actions/action_kind.cpp"
    "${PROJECT_SOURCE_DIR}/solvers/krylov/krylov.cpp")
  quarkstar_settings(quarkstar_howto_command)
  target_include_directories(quarkstar_howto_command BEFORE PRIVATE "${folder}")
  target_link_libraries(quarkstar_howto_command PRIVATE quarkstar_howto quarkstar_lab)
  add_dependencies(quarkstar_howto_command howto_examples)
endif()
