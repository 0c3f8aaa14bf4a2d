# Every codelets/**_kernel.cpp is compiled once per CPU architecture; which copy runs is chosen when the program starts.
# A new architecture is one file in codelets/arch/ and one line in the branch of its processor below, from narrow to wide.

set(QUARKSTAR_ARCHITECTURES "all" CACHE STRING
  "CPU architectures to compile kernels for: 'all' of this kind of processor, 'native' (the widest that this machine has), or a list")

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
  if(arch_FLAGS)
    set_property(GLOBAL APPEND PROPERTY QUARKSTAR_VECTOR_ARCHS ${name})
  endif()
  set(usable "true")
  foreach(feature IN LISTS arch_CPU)
    string(APPEND usable " && __builtin_cpu_supports(\"${feature}\")")
  endforeach()
  set_property(GLOBAL APPEND_STRING PROPERTY QUARKSTAR_ARCH_LIST " \\\n  DO(${name} __VA_OPT__(,) __VA_ARGS__)")
  set_property(GLOBAL APPEND PROPERTY QUARKSTAR_ARCHS ${name})
  set_property(TARGET ${target} PROPERTY QUARKSTAR_USABLE "${usable}")
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

get_property(archs GLOBAL PROPERTY QUARKSTAR_ARCHS)
set(built ${QUARKSTAR_ARCHITECTURES})
if(built STREQUAL "all")
  set(built ${archs})
elseif(built STREQUAL "native")
  include(CheckCXXSourceRuns)
  foreach(name IN LISTS archs)
    get_target_property(usable quarkstar_kernels_${name} QUARKSTAR_USABLE)
    check_cxx_source_runs("int main() { return !(${usable}); }" QUARKSTAR_HAS_${name})
    if(QUARKSTAR_HAS_${name})
      set(built ${name})
    endif()
  endforeach()
endif()
foreach(name IN LISTS built)
  if(NOT name IN_LIST archs)
    message(FATAL_ERROR "QUARKSTAR_ARCHITECTURES='${QUARKSTAR_ARCHITECTURES}': use 'all', 'native', or some of ${archs}")
  endif()
endforeach()
message(STATUS "Kernels for: ${built}")
# Kernels do not see which ones are built: with more of them, those that are there need not be compiled again.
set(QUARKSTAR_ARCH_BUILT "")
foreach(name IN LISTS archs)
  if(name IN_LIST built)
    get_target_property(usable quarkstar_kernels_${name} QUARKSTAR_USABLE)
    target_sources(quarkstar_codelets PRIVATE "$<TARGET_OBJECTS:quarkstar_kernels_${name}>")
    string(APPEND QUARKSTAR_ARCH_BUILT "#define QUARKSTAR_USABLE_${name} (${usable})\n#define QUARKSTAR_BUILT_${name}(...) __VA_ARGS__\n")
  else()
    set_target_properties(quarkstar_kernels_${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    string(APPEND QUARKSTAR_ARCH_BUILT "#define QUARKSTAR_USABLE_${name} false\n#define QUARKSTAR_BUILT_${name}(...) nullptr\n")
  endif()
endforeach()

get_property(QUARKSTAR_ARCH_LIST GLOBAL PROPERTY QUARKSTAR_ARCH_LIST)
foreach(header quarkstar_architectures quarkstar_built_architectures)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${header}.hpp.in" "${QUARKSTAR_GENERATED_DIR}/${header}.hpp" @ONLY)
endforeach()
