# cmake -DBUILD=<build folder> -DSOURCE=<this folder> -P run.cmake: install, then build and run the program, and the examples of the runtime,
# against it.
set(work "${BUILD}/package_test")
file(REMOVE_RECURSE "${work}")
foreach(step
    "${CMAKE_COMMAND};--install;${BUILD};--prefix;${work}/installed"
    "${CMAKE_COMMAND};-G;Ninja;-S;${SOURCE};-B;${work}/build;-DCMAKE_PREFIX_PATH=${work}/installed;-DCMAKE_BUILD_TYPE=Release"
    "${CMAKE_COMMAND};--build;${work}/build"
    "${work}/build/consumer"
    "${CMAKE_COMMAND};-G;Ninja;-S;${SOURCE}/../../examples/runtime;-B;${work}/examples;-DCMAKE_PREFIX_PATH=${work}/installed;-DCMAKE_BUILD_TYPE=Release"
    "${CMAKE_COMMAND};--build;${work}/examples"
    "${work}/examples/example_cholesky"
    "${work}/examples/example_heat"
    "${work}/examples/example_conjugate_gradient")
  execute_process(COMMAND ${step} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${output}")
  endif()
endforeach()
message("${output}")
