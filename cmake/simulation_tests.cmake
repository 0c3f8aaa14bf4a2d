# Tests of quarkstar-sim: tests/simulation/*.sh. The others need kernels that run.
file(GLOB scripts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/simulation/*.sh")
foreach(script IN LISTS scripts)
  cmake_path(GET script STEM stem)
  add_test(NAME simulation.${stem} COMMAND ${CMAKE_COMMAND} -E env "QUARKSTAR=$<TARGET_FILE:quarkstar>" bash "${script}")
  set_tests_properties(simulation.${stem} PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77
    ENVIRONMENT "QUARKSTAR_SOURCE_DIR=${PROJECT_SOURCE_DIR};QUARKSTAR_BUILD_DIR=${PROJECT_BINARY_DIR}")
endforeach()
