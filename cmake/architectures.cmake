# Every codelets/**_kernel.cpp is compiled once per CPU architecture; which copy runs is chosen when the program starts.
# A new architecture is one file in codelets/arch/ and one line at the end of this file, from narrow to wide.

# quarkstar_add_arch(NAME [FLAGS flag...] [CPU feature...])
#   NAME      the namespace of its kernels; codelets/arch/NAME.hpp says how its registers work
#   FLAGS     what the kernels are compiled with
#   CPU       what the processor must have for them to run, as __builtin_cpu_supports names it
# Kernels see QUARKSTAR_ARCH_NAME and QUARKSTAR_ARCH_HEADER; everybody else finds the list of architectures in the generated
# quarkstar_architectures.hpp.
# A kernel must put whatever it defines in a namespace named QUARKSTAR_ARCH_NAME, or make its template arguments differ:
# the linker keeps one copy of an inline function, and it could be the one with instructions that this CPU lacks.
# The test kernel_symbols checks that.
function(quarkstar_add_arch name)
  cmake_parse_arguments(PARSE_ARGV 1 arch "" "" "FLAGS;CPU")
  set(target quarkstar_kernels_${name})
  add_library(${target} OBJECT ${QUARKSTAR_KERNELS})
  quarkstar_settings(${target})
  target_link_libraries(${target} PRIVATE quarkstar_runtime)
  target_compile_definitions(${target} PRIVATE
    QUARKSTAR_ARCH_NAME=${name} "QUARKSTAR_ARCH_HEADER=\"codelets/arch/${name}.hpp\"")
  target_compile_options(${target} PRIVATE ${QUARKSTAR_KERNEL_OPTIONS} ${arch_FLAGS})
  target_sources(quarkstar_codelets PRIVATE "$<TARGET_OBJECTS:${target}>")
  if(arch_FLAGS)
    set_property(GLOBAL APPEND PROPERTY QUARKSTAR_VECTOR_ARCHS ${name})
  endif()
  set(usable "true")
  foreach(feature IN LISTS arch_CPU)
    string(APPEND usable " && __builtin_cpu_supports(\"${feature}\")")
  endforeach()
  set_property(GLOBAL APPEND_STRING PROPERTY QUARKSTAR_ARCH_LIST " \\\n  DO(${name} __VA_OPT__(,) __VA_ARGS__)")
  set_property(GLOBAL APPEND_STRING PROPERTY QUARKSTAR_ARCH_TESTS "#define QUARKSTAR_USABLE_${name} (${usable})\n")
endfunction()

quarkstar_add_arch(scalar)
# A simulation runs no kernel: the quickest to compile will do.
if(NOT QUARKSTAR_SIMULATION AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  quarkstar_add_arch(avx2 FLAGS -mavx2 -mfma -mf16c CPU avx2 fma)
  quarkstar_add_arch(avx512 FLAGS -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mprefer-vector-width=512
    CPU avx512f avx512dq avx512bw avx512vl)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(ppc64le|powerpc64le)$")
  quarkstar_add_arch(vsx FLAGS -mcpu=power8 CPU vsx arch_2_07)
endif()

get_property(QUARKSTAR_ARCH_LIST GLOBAL PROPERTY QUARKSTAR_ARCH_LIST)
get_property(QUARKSTAR_ARCH_TESTS GLOBAL PROPERTY QUARKSTAR_ARCH_TESTS)
configure_file("${PROJECT_SOURCE_DIR}/cmake/quarkstar_architectures.hpp.in" "${QUARKSTAR_GENERATED_DIR}/quarkstar_architectures.hpp" @ONLY)
