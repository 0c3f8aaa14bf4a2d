# Every codelets/**_kernel.cpp is compiled once per CPU architecture; which copy runs is chosen when the program starts.
# A new architecture is one file in codelets/arch/ and one line at the end of this file.

# quarkstar_add_arch(NAME FLAGS...)
#   kernels see QUARKSTAR_ARCH_<NAME> and QUARKSTAR_ARCH_NAME (the name in lower case, to use as a namespace);
#   everybody else sees QUARKSTAR_HAVE_<NAME>: the tables of that architecture are linked in.
# A kernel must put whatever it defines in a namespace named QUARKSTAR_ARCH_NAME, or make its template arguments differ:
# the linker keeps one copy of an inline function, and it could be the one with instructions that this CPU lacks.
# The test kernel_symbols checks that.
function(quarkstar_add_arch name)
  if(NOT QUARKSTAR_KERNELS)
    return()
  endif()
  string(TOLOWER "${name}" lower)
  set(target quarkstar_kernels_${lower})
  add_library(${target} OBJECT ${QUARKSTAR_KERNELS})
  quarkstar_settings(${target})
  target_link_libraries(${target} PRIVATE quarkstar_runtime)
  target_compile_definitions(${target} PRIVATE QUARKSTAR_ARCH_${name}=1 QUARKSTAR_ARCH_NAME=${lower})
  # -O3 whatever the build type: an unoptimised kernel is of no use, and its inline functions would leak (see above).
  target_compile_options(${target} PRIVATE -O3 -fno-math-errno -fno-trapping-math ${ARGN})
  target_sources(quarkstar_codelets PRIVATE "$<TARGET_OBJECTS:${target}>")
  target_compile_definitions(quarkstar_codelets PUBLIC QUARKSTAR_HAVE_${name}=1)
  if(ARGN)
    set_property(GLOBAL APPEND PROPERTY QUARKSTAR_VECTOR_ARCHS ${lower})
  endif()
endfunction()

quarkstar_add_arch(SCALAR)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  quarkstar_add_arch(AVX2 -mavx2 -mfma -mf16c)
  quarkstar_add_arch(AVX512 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mprefer-vector-width=512)
endif()
