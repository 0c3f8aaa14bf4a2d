# Language, warnings, floating point, sanitizers: what every translation unit is compiled with.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
# The installed command finds StarPU where the build found it.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo, Debug" FORCE)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # Paths within this tree count as relative, so that every clone is served by what another one compiled.
  set(CCACHE env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${CCACHE}")
  foreach(language C CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER "${CCACHE}")
    endif()
  endforeach()
endif()

# Contraction is off everywhere: a fused multiply-add happens where the source asks for one and nowhere else, so that
# the same block gives the same bits on every worker. -ffast-math is never allowed.
# No ABI notes: vectors wider than the baseline's registers never cross a translation unit.
set(QUARKSTAR_CXX_OPTIONS -ffp-contract=off -Wall -Wextra -Wno-psabi)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees an overlap in "text" + std::string where there is none (its bug 105651).
  list(APPEND QUARKSTAR_CXX_OPTIONS -Wno-restrict)
endif()
foreach(flags CMAKE_CXX_FLAGS CMAKE_CXX_FLAGS_RELEASE CMAKE_CXX_FLAGS_RELWITHDEBINFO)
  if("${${flags}}" MATCHES "-ffast-math|-Ofast|-funsafe-math-optimizations|-fassociative-math")
    message(FATAL_ERROR "${flags} = '${${flags}}': reordered arithmetic breaks Quarkstar's bit-identical results. Remove it.")
  endif()
endforeach()

# Kernels: -O3 whatever the build type, because an unoptimised kernel is of no use, and its inline functions would leak (see
# architectures.cmake).
set(QUARKSTAR_KERNEL_OPTIONS -O3 -fno-math-errno -fno-trapping-math)

set(QUARKSTAR_LINK_OPTIONS -Wl,--as-needed)
if(QUARKSTAR_SANITIZE)
  set(allowed "address,undefined" "address" "undefined" "thread")
  if(NOT QUARKSTAR_SANITIZE IN_LIST allowed)
    message(FATAL_ERROR "QUARKSTAR_SANITIZE='${QUARKSTAR_SANITIZE}': use 'address,undefined' or 'thread'")
  endif()
  list(APPEND QUARKSTAR_CXX_OPTIONS -fsanitize=${QUARKSTAR_SANITIZE} -fno-omit-frame-pointer)
  list(APPEND QUARKSTAR_LINK_OPTIONS -fsanitize=${QUARKSTAR_SANITIZE})
  if(QUARKSTAR_SANITIZE MATCHES "undefined")
    list(APPEND QUARKSTAR_CXX_OPTIONS -fno-sanitize-recover=undefined)
  endif()
  # A kernel is a few functions of thousands of lines. With every check it takes the compiler many minutes; with these a minute or
  # two. What is lost: overruns of a kernel's local variables, which are registers. A null pointer still ends the program.
  list(TRANSFORM QUARKSTAR_KERNEL_OPTIONS REPLACE "^-O3$" "-O1")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT QUARKSTAR_SANITIZE STREQUAL "thread")
    list(APPEND QUARKSTAR_KERNEL_OPTIONS "SHELL:--param asan-stack=0" "SHELL:--param asan-instrumentation-with-call-threshold=0"
      -fno-sanitize-address-use-after-scope -fno-sanitize=null,object-size)
  endif()
endif()
if(QUARKSTAR_SIMULATION)
  # Ranks of a simulated job are copies of one library in one process: the loader must not make one object of what is
  # unique in each.
  list(APPEND QUARKSTAR_CXX_OPTIONS -fno-gnu-unique)
endif()
if(QUARKSTAR_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "QUARKSTAR_FUZZ needs clang (libFuzzer): configure with -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++")
  endif()
  list(APPEND QUARKSTAR_CXX_OPTIONS -fsanitize=fuzzer-no-link)
endif()

# Applies the above to a target.
function(quarkstar_settings target)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${QUARKSTAR_CXX_OPTIONS}>")
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_link_options(${target} PRIVATE ${QUARKSTAR_LINK_OPTIONS})
  endif()
endfunction()
