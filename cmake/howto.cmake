# What docs/howto/ tells people to write, taken from the pages: battery.howto runs the solver, battery.howto_operator the operator.
# cli.howto_action and cli.howto_solver run the command with both. The other blocks are compiled only (tests/cli/howto.sh).

set(folder "${PROJECT_BINARY_DIR}/howto")
set(solver solvers/krylov/mr_steps.hpp solvers/krylov/mr.cpp solvers/krylov/solvers.inc)
set(operator tests/battery/moment_test.cpp codelets/actions/actions.inc codelets/actions/moment/action.hpp codelets/actions/moment/kind.cpp)
if(QUARKSTAR_CUDA)
  list(APPEND solver solvers/krylov/mr_steps.cu)
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
quarkstar_layer(howto SOURCES ${sources} LINK quarkstar_solvers)
target_include_directories(quarkstar_howto PUBLIC "${folder}")
target_compile_options(quarkstar_howto PRIVATE "${cuda_options}")
add_dependencies(quarkstar_howto howto_examples)

set(tests ${examples})
list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
target_sources(battery_tests PRIVATE ${tests})
set_source_files_properties(${tests} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
target_link_libraries(battery_tests PRIVATE quarkstar_howto)
quarkstar_test(battery.howto_operator battery_tests "--source-file=*docs/howto/operator.md")

# The command with one action and one solver more: its lists of them are compiled anew.
if(TARGET quarkstar)
  set(lists "${PROJECT_SOURCE_DIR}/codelets/actions/action_kind.cpp" "${PROJECT_SOURCE_DIR}/solvers/krylov/krylov.cpp")
  # Alone in the libraries too, so that the linker finds these first.
  set_source_files_properties(${lists} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  add_executable(quarkstar_howto_command $<TARGET_OBJECTS:quarkstar> ${lists})
  quarkstar_settings(quarkstar_howto_command)
  target_include_directories(quarkstar_howto_command BEFORE PRIVATE "${folder}")
  target_link_libraries(quarkstar_howto_command PRIVATE quarkstar_howto quarkstar_lab)
  add_dependencies(quarkstar_howto_command howto_examples)
endif()
