# Tests. Each test file is one ctest entry, so that a failure names the file.
#   tests/reference/**.cpp      library quarkstar_reference: slow, obvious, double precision
#   tests/unit/*.cpp            unit_tests;  tests/battery/*.cpp  battery_tests (doctest; main.cpp of unit/ unless it has one)
#   tests/runtime/*.cpp         runtime_tests: the runtime alone, with an operator new that can be made to fail
#   tests/protocol/*.cpp        protocol_tests: models of what ranks say to each other, all interleavings
#   tests/kernels/*_test.cpp    kernel_tests: kernels without the runtime (kernel_tests.cmake)
#   tests/measure/*.cpp         measurements, no tests: built when asked for
#   tests/cli/*.sh              run with QUARKSTAR=<the command>; exit code 77 means skipped
#   tests/fuzz/*_fuzz.cpp       libFuzzer targets with QUARKSTAR_FUZZ; in every other build their seeds are replayed

find_package(rapidcheck QUIET)

# What every test runs under: no trace files, sanitizers with our suppressions. Not the watchdog of StarPU: the end of a session waits for its
# sleep, up to a second. Nor are threads bound to cores: all tests that run at once would have theirs on the first ones. Threads of a team that
# wait for each other sleep soon, so that another test has their core.
set(test_environment
  "STARPU_FXT_TRACE=0" "STARPU_SILENT=1" "STARPU_WORKERS_NOBIND=1" "GOMP_SPINCOUNT=2000"
  "OMPI_ALLOW_RUN_AS_ROOT=1" "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
  "UBSAN_OPTIONS=print_stacktrace=1"
  "ASAN_OPTIONS=protect_shadow_gap=0:allocator_may_return_null=1"
  "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/lsan.supp:print_suppressions=0"
  "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/tsan.supp"
  "QUARKSTAR_TUNE=${PROJECT_BINARY_DIR}/tests-tune.json"
  "QUARKSTAR_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
  "QUARKSTAR_BUILD_DIR=${PROJECT_BINARY_DIR}")

function(quarkstar_test name)
  add_test(NAME ${name} COMMAND ${ARGN} COMMAND_EXPAND_LISTS)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${test_environment}" TIMEOUT 900 SKIP_RETURN_CODE 77)
endfunction()

# ---- the reference
quarkstar_glob(sources "tests/reference/*.cpp")
quarkstar_layer(reference SOURCES ${sources} LINK quarkstar_codelets)
# Without a look at each complex product for NaN + i NaN: a third of its time.
target_compile_options(quarkstar_reference PRIVATE -fcx-fortran-rules)
# In one file only: another folder's build then shares every other object through the compiler cache.
set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/reference/data.cpp" PROPERTIES
  COMPILE_DEFINITIONS "QUARKSTAR_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")

# ---- doctest executables
function(quarkstar_test_executable folder)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${folder}/*.cpp")
  set(files ${sources})
  list(FILTER files EXCLUDE REGEX "/main\\.cpp$")
  if(NOT files)
    return()
  endif()
  if(NOT EXISTS "${PROJECT_SOURCE_DIR}/tests/${folder}/main.cpp")
    list(APPEND sources "${PROJECT_SOURCE_DIR}/tests/unit/main.cpp")
  endif()
  set(target ${folder}_tests)
  add_executable(${target} ${sources})
  quarkstar_settings(${target})
  if(folder MATCHES "^(runtime|protocol)$")
    target_link_libraries(${target} PRIVATE quarkstar_runtime)
  else()
    target_link_libraries(${target} PRIVATE quarkstar_apps quarkstar_solvers quarkstar_reference hdf5::hdf5)
  endif()
  # Several files as one, as in cmake/layers.cmake; each has a namespace of its own. Not those of one of a kind, nor where the linker keeps
  # each file's own operator new or names.
  if(folder MATCHES "^(unit|battery|gpu)$")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${QUARKSTAR_TOGETHER} UNITY_BUILD_BATCH_SIZE 8)
    list(FILTER sources INCLUDE REGEX "/(main|howto_test)\\.cpp$")
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  # What they test, and the reference, are compiled as for use.
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)
  if(folder STREQUAL "unit")
    target_link_libraries(${target} PRIVATE quarkstar_lab)
  endif()
  if(TARGET rapidcheck)
    target_link_libraries(${target} PRIVATE rapidcheck)
  endif()
  foreach(file IN LISTS files)
    cmake_path(GET file STEM stem)
    string(REGEX REPLACE "_test$" "" stem "${stem}")
    quarkstar_test(${folder}.${stem} ${target} "--source-file=*/${folder}/${stem}_test.cpp,*/${folder}/${stem}.cpp")
  endforeach()
endfunction()
quarkstar_test_executable(unit)
# A stand-in for the GPU driver's management library, which a test loads.
add_library(fake_nvml MODULE "${PROJECT_SOURCE_DIR}/tests/fake/fake_nvml.cpp")
quarkstar_settings(fake_nvml)
add_dependencies(unit_tests fake_nvml)
set_source_files_properties("${PROJECT_SOURCE_DIR}/tests/unit/energy_test.cpp" PROPERTIES
  COMPILE_DEFINITIONS "QUARKSTAR_FAKE_NVML=\"$<TARGET_FILE:fake_nvml>\"")
quarkstar_test_executable(runtime)
quarkstar_test_executable(protocol)
quarkstar_test_executable(battery)
if(MPIEXEC_EXECUTABLE AND NOT CMAKE_CROSSCOMPILING)
  # On one process it is battery.tiling; three do not cut the lattice between its copies. Eight, which share two cores for most of a minute,
  # solve for Wilson quarks alone: staggered ones on eight ranks are in cli.ranks.
  foreach(count 2 4 8)
    quarkstar_test(ranks.tiling_${count} ${MPIEXEC_EXECUTABLE} --oversubscribe --bind-to none ${MPIEXEC_NUMPROC_FLAG} ${count}
      $<TARGET_FILE:battery_tests> "--source-file=*/battery/tiling_test.cpp" $<$<EQUAL:${count},8>:--test-case=*Wilson>)
  endforeach()
  foreach(count 2 3)
    quarkstar_test(ranks.proxy_${count} ${MPIEXEC_EXECUTABLE} --oversubscribe --bind-to none ${MPIEXEC_NUMPROC_FLAG} ${count}
      $<TARGET_FILE:protocol_tests> "--source-file=*/protocol/proxy_ranks_test.cpp")
  endforeach()
endif()
add_executable(measure_starpu_mpi EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/tests/measure/starpu_mpi.cpp")
quarkstar_settings(measure_starpu_mpi)
target_link_libraries(measure_starpu_mpi PRIVATE quarkstar_runtime)
include(howto)
quarkstar_test_executable(gpu)
include(kernel_tests)

# ---- examples of the runtime alone, which cli.runtime_examples runs
if(NOT CMAKE_CROSSCOMPILING AND NOT QUARKSTAR_FUZZ)
  block()
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples")
    add_subdirectory("${PROJECT_SOURCE_DIR}/examples/runtime" examples)
  endblock()
  get_property(examples DIRECTORY "${PROJECT_SOURCE_DIR}/examples/runtime" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(example IN LISTS examples)
    quarkstar_settings(${example})
  endforeach()
endif()

# ---- scripts
set(command "$<TARGET_FILE:quarkstar>")
if(CMAKE_CROSSCOMPILING_EMULATOR)
  # Scripts start the command by one path.
  set(command "${PROJECT_BINARY_DIR}/quarkstar-emulated")
  list(JOIN CMAKE_CROSSCOMPILING_EMULATOR "' '" words)
  file(GENERATE OUTPUT "${command}" CONTENT "#!/bin/sh\nexec '${words}' '$<TARGET_FILE:quarkstar>' \"$@\"\n"
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endif()
file(GLOB scripts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/cli/*.sh")
foreach(script IN LISTS scripts)
  cmake_path(GET script STEM stem)
  if(TARGET quarkstar)
    set(tested "${command}")
    if(stem MATCHES "^howto_")
      set(tested "$<TARGET_FILE:quarkstar_howto_command>")
    endif()
    quarkstar_test(cli.${stem} ${CMAKE_COMMAND} -E env "QUARKSTAR=${tested}" bash "${script}")
  elseif(stem MATCHES "^(layering|formatting)$")
    quarkstar_test(cli.${stem} bash "${script}")
  endif()
endforeach()

if(TARGET quarkstar)
  foreach(stem ranks lost)
    quarkstar_test(gpu.${stem} ${CMAKE_COMMAND} -E env "QUARKSTAR=$<TARGET_FILE:quarkstar>" bash "${PROJECT_SOURCE_DIR}/tests/gpu/${stem}.sh")
  endforeach()
endif()

# Each session takes most of a GPU's memory, and kernels of ranks wait for each other: where there is a GPU, one test of it at a time. The
# command's own tests use what they find.
file(GLOB gpus "/dev/nvidia[0-9]*")
if(QUARKSTAR_CUDA AND gpus)
  get_property(names DIRECTORY PROPERTY TESTS)
  list(FILTER names INCLUDE REGEX "^(gpu|cli)\\.")
  set_tests_properties(${names} PROPERTIES RESOURCE_LOCK gpu)
endif()
if(TARGET quarkstar)
  set_tests_properties(gpu.ranks PROPERTIES RUN_SERIAL TRUE TIMEOUT 1800)  # some thirty jobs of two ranks
endif()

# Ranks that wait for each other take minutes for seconds of work where something else has their cores: one such job at a time. What starts
# nothing else has all cores; in other scripts that is the smaller part, and a test of one process may run beside them.
get_property(names DIRECTORY PROPERTY TESTS)
list(FILTER names INCLUDE REGEX "^ranks\\.")
set(alone ${names})
if(TARGET quarkstar)
  foreach(script IN LISTS scripts)
    file(STRINGS "${script}" starts_ranks REGEX "ranks\\.bash|mpirun" LIMIT_COUNT 1)
    if(starts_ranks)
      cmake_path(GET script STEM stem)
      list(APPEND names cli.${stem})
      if(starts_ranks MATCHES "ranks\\.bash" OR stem MATCHES "^(guest|milc|network|rank_failures)$")
        list(APPEND alone cli.${stem})
      endif()
    endif()
  endforeach()
endif()
foreach(name IN LISTS names)
  set_property(TEST ${name} APPEND PROPERTY RESOURCE_LOCK ranks)
endforeach()
foreach(name IN LISTS alone)
  set_property(TEST ${name} PROPERTY PROCESSORS 4)
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "STARPU_WORKERS_NOBIND=0")  # ranks share the cores among themselves
endforeach()

# Those that keep two workers busy which wait for each other: two of them on two cores take up to six times as long as one after the other.
get_property(names DIRECTORY PROPERTY TESTS)
list(FILTER names INCLUDE REGEX "^battery\\.(coarse|domain_wall|eigen|multigrid|recycling)$")
set_tests_properties(${names} PROPERTIES PROCESSORS 2)

# Its helper gives way to everything else, and may need minutes beside another test.
if(TARGET quarkstar)
  set_tests_properties(cli.campaign_helper PROPERTIES PROCESSORS 2)
endif()

if(TARGET quarkstar)
  set_tests_properties(cli.relaunch PROPERTIES TIMEOUT 1800)  # some thirty jobs of four ranks
endif()

if(NOT QUARKSTAR_SANITIZE AND NOT QUARKSTAR_FUZZ)
  # ---- no function compiled for one architecture is linked into another's path
  get_property(archs GLOBAL PROPERTY QUARKSTAR_VECTOR_ARCHS)
  foreach(arch IN LISTS archs)
    quarkstar_test(kernel_symbols.${arch} bash "${PROJECT_SOURCE_DIR}/cmake/kernel_symbols.sh"
      "${CMAKE_NM}" ${arch} "$<TARGET_OBJECTS:quarkstar_kernels_${arch}>")
  endforeach()

  # ---- the installed package can be used from outside
  quarkstar_test(package "${CMAKE_COMMAND}" "-DBUILD=${PROJECT_BINARY_DIR}"
    "-DSOURCE=${PROJECT_SOURCE_DIR}/cmake/package_test" -P "${PROJECT_SOURCE_DIR}/cmake/package_test/run.cmake")
endif()

# ---- fuzzers
file(GLOB fuzzers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/fuzz/*_fuzz.cpp")
foreach(file IN LISTS fuzzers)
  cmake_path(GET file STEM stem)
  string(REGEX REPLACE "_fuzz$" "" name "${stem}")
  set(seeds "${PROJECT_SOURCE_DIR}/tests/fuzz/seeds/${name}")
  if(QUARKSTAR_FUZZ)
    add_executable(${stem} "${file}")
    target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
    set(arguments -runs=0)
  else()
    add_executable(${stem} "${file}" "${PROJECT_SOURCE_DIR}/cmake/fuzz_replay.cpp")
    set(arguments)
  endif()
  quarkstar_settings(${stem})
  target_link_libraries(${stem} PRIVATE quarkstar_codelets)
  if(IS_DIRECTORY "${seeds}")
    quarkstar_test(fuzz.${name} ${stem} ${arguments} "${seeds}")
  endif()
endforeach()
