# The four layers, apps -> solvers -> codelets -> runtime. Sources are found by name: adding a file needs no line here.
#   runtime/**.cpp            quarkstar_runtime; **.cu with CUDA
#   codelets/**.cpp           quarkstar_codelets; **_kernel.cpp once per CPU architecture (architectures.cmake); **.cu with CUDA
#   solvers/**.cpp            quarkstar_solvers
#   apps/**.cpp               the command `quarkstar`. Without its main program and subcommands: quarkstar_lab (apps/lab, apps/studies) and
#                             quarkstar_apps (the rest), which the tests link too
#   apps/c/*.cpp              libquarkstar.so, the C library
#   apps/c/milc/*.cpp         with these: libquda.so, which answers what MILC asks of a solver library

# quarkstar_glob(OUT PATTERN...): sources below the project's root.
function(quarkstar_glob out)
  set(patterns)
  foreach(pattern IN LISTS ARGN)
    list(APPEND patterns "${PROJECT_SOURCE_DIR}/${pattern}")
  endforeach()
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${patterns})
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# quarkstar_together(TARGET): the target's C++ files of one folder are compiled as one, so that a template is instantiated once for all of
# them. That takes a third of the time; names that a file keeps to itself are therefore unique in its folder. Files with options of their
# own stay alone. Not in simulations: each rank of a simulated job loads a copy of a library, of which the linker takes single objects only.
function(quarkstar_together target)
  if(QUARKSTAR_SIMULATION)
    return()
  endif()
  get_target_property(files ${target} SOURCES)
  list(FILTER files INCLUDE REGEX "\\.cpp$")
  foreach(file IN LISTS files)
    file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${file}")
    cmake_path(GET folder PARENT_PATH folder)
    string(REPLACE "/" "_" folder "${folder}")
    set_source_files_properties("${file}" PROPERTIES UNITY_GROUP "${folder}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${QUARKSTAR_TOGETHER} UNITY_BUILD_MODE GROUP)
endfunction()

# quarkstar_layer(NAME SOURCES... LINK LIBRARIES...): static library quarkstar_NAME, alias quarkstar::NAME.
# A layer that has headers only so far is an interface library.
function(quarkstar_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "SOURCES;LINK")
  set(target quarkstar_${name})
  if(layer_SOURCES)
    add_library(${target} STATIC ${layer_SOURCES})
    set(scope PUBLIC)
    quarkstar_settings(${target})
    quarkstar_together(${target})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(quarkstar::${name} ALIAS ${target})
  target_include_directories(${target} ${scope}
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
    "$<BUILD_INTERFACE:${QUARKSTAR_GENERATED_DIR}>"
    "$<INSTALL_INTERFACE:include/quarkstar>")
  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} ${layer_LINK})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  set(QUARKSTAR_SCOPE ${scope} PARENT_SCOPE)
endfunction()

if(QUARKSTAR_CUDA)
  set(CMAKE_CUDA_COMPILER "${QUARKSTAR_NVCC}")
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES "80-real;90-real;100" CACHE STRING "GPU generations to compile for")
  endif()
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    # Debian 12's CMake is older than the nvcc that speaks C++20.
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
endif()

# -fmad=false is nvcc's -ffp-contract=off.
set(cuda_options "$<$<COMPILE_LANGUAGE:CUDA>:-fmad=false;--expt-relaxed-constexpr;-Xcompiler=-ffp-contract=off>")

# ---- runtime
quarkstar_glob(sources "runtime/*.cpp")
if(QUARKSTAR_CUDA)
  quarkstar_glob(cuda_sources "runtime/*.cu")
  list(APPEND sources ${cuda_sources})
endif()
if(QUARKSTAR_SIMULATION)
  list(REMOVE_ITEM sources "${PROJECT_SOURCE_DIR}/runtime/backend.cpp")
  set(starpu PkgConfig::STARPU SimGrid::SMPI)
else()
  list(REMOVE_ITEM sources "${PROJECT_SOURCE_DIR}/runtime/simulate/backend.cpp" "${PROJECT_SOURCE_DIR}/runtime/simulate/rank.cpp"
    "${PROJECT_SOURCE_DIR}/runtime/simulate/waiting.cpp")
  set(starpu PkgConfig::STARPUMPI PkgConfig::STARPU MPI::MPI_C)
endif()
quarkstar_layer(runtime SOURCES ${sources} LINK
  ${starpu} PkgConfig::HWLOC
  OpenMP::OpenMP_CXX Threads::Threads fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
# Where this StarPU looks for performance models of its own.
set_source_files_properties("${PROJECT_SOURCE_DIR}/runtime/graph/session.cpp" PROPERTIES
  COMPILE_DEFINITIONS "QUARKSTAR_STARPU_MODELS=\"${STARPU_PREFIX}/share/starpu/perfmodels/sampling\"")
# mpi.h's C++ bindings were removed from the standard; Open MPI still pulls them in unless told otherwise.
target_compile_definitions(quarkstar_runtime ${QUARKSTAR_SCOPE} OMPI_SKIP_MPICXX=1)
if(QUARKSTAR_SIMULATION)
  target_compile_definitions(quarkstar_runtime ${QUARKSTAR_SCOPE} QUARKSTAR_SIMULATION=1)
endif()
if(QUARKSTAR_CUDA)
  # pkg-config names no -lcudart.
  target_link_libraries(quarkstar_runtime ${QUARKSTAR_SCOPE} CUDA::cudart)
  target_compile_definitions(quarkstar_runtime ${QUARKSTAR_SCOPE} QUARKSTAR_CUDA=1)
  target_compile_options(quarkstar_runtime PRIVATE "${cuda_options}")
endif()

# ---- codelets
quarkstar_glob(sources "codelets/*.cpp")
set(QUARKSTAR_KERNELS ${sources})
list(FILTER QUARKSTAR_KERNELS INCLUDE REGEX "_kernel\\.cpp$")
list(FILTER sources EXCLUDE REGEX "_kernel\\.cpp$")
if(QUARKSTAR_CUDA)
  quarkstar_glob(cuda_sources "codelets/*.cu")
  quarkstar_glob(cuda_solver_sources "solvers/*.cu")
  list(APPEND sources ${cuda_sources})
endif()
quarkstar_layer(codelets SOURCES ${sources} LINK quarkstar_runtime pugixml::pugixml ZLIB::ZLIB)
target_include_directories(quarkstar_codelets SYSTEM ${QUARKSTAR_SCOPE} "$<BUILD_INTERFACE:${RANDOM123_INCLUDE_DIR}>")
if(cuda_sources)
  target_compile_options(quarkstar_codelets PRIVATE "${cuda_options}")
endif()

# ---- solvers
quarkstar_glob(sources "solvers/*.cpp")
quarkstar_layer(solvers SOURCES ${sources} ${cuda_solver_sources} LINK quarkstar_codelets Eigen3::Eigen)
if(cuda_solver_sources)
  target_compile_options(quarkstar_solvers PRIVATE "${cuda_options}")
endif()

# ---- apps
quarkstar_glob(sources "apps/*.cpp")
if(sources)
  quarkstar_glob(lab_sources "apps/lab/*.cpp" "apps/studies/*.cpp")
  quarkstar_glob(milc_sources "apps/c/milc/*.cpp")
  quarkstar_glob(c_sources "apps/c/*.cpp")
  list(REMOVE_ITEM c_sources ${milc_sources})
  # Subcommands stand on both libraries.
  set(command_sources main.cpp lab_command.cpp model_command.cpp)
  list(TRANSFORM command_sources PREPEND "${PROJECT_SOURCE_DIR}/apps/command/")
  list(REMOVE_ITEM sources ${lab_sources} ${c_sources} ${milc_sources} ${command_sources} "${PROJECT_SOURCE_DIR}/apps/simulation/simulation_main.cpp"
    "${PROJECT_SOURCE_DIR}/apps/simulation/rank_main.cpp")
  # Not installed.
  add_library(quarkstar_apps STATIC ${sources})
  target_link_libraries(quarkstar_apps PUBLIC quarkstar_solvers CLI11::CLI11 tomlplusplus::tomlplusplus hdf5::hdf5)
  set_source_files_properties("${PROJECT_SOURCE_DIR}/apps/simulation/machine_file.cpp" PROPERTIES
    COMPILE_DEFINITIONS "QUARKSTAR_APPS_FOLDER=\"${PROJECT_SOURCE_DIR}/apps\"")
  add_library(quarkstar_lab STATIC ${lab_sources})
  target_link_libraries(quarkstar_lab PUBLIC quarkstar_apps)
  add_executable(quarkstar ${command_sources})
  target_link_libraries(quarkstar PRIVATE quarkstar_lab)
  foreach(target quarkstar_apps quarkstar_lab quarkstar)
    quarkstar_settings(${target})
    quarkstar_together(${target})
    # None of it computes on fields: a quarter less time to compile.
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endforeach()
  if(NOT QUARKSTAR_SIMULATION)
    add_library(quarkstar_c_objects OBJECT ${c_sources})
    quarkstar_settings(quarkstar_c_objects)
    quarkstar_together(quarkstar_c_objects)
    target_link_libraries(quarkstar_c_objects PRIVATE quarkstar_apps)
    # quarkstar_shared(TARGET MAP): exports what the map names alone, so that no symbol of it meets one of its caller. Its threads may
    # outlive a dlclose().
    function(quarkstar_shared target map)
      quarkstar_settings(${target})
      target_link_libraries(${target} PRIVATE quarkstar_apps)
      target_link_options(${target} PRIVATE ${QUARKSTAR_LINK_OPTIONS} "-Wl,--version-script=${PROJECT_SOURCE_DIR}/${map}" -Wl,-z,nodelete)
      set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX LINK_DEPENDS "${PROJECT_SOURCE_DIR}/${map}")
    endfunction()
    add_library(quarkstar_c SHARED $<TARGET_OBJECTS:quarkstar_c_objects>)
    add_library(quarkstar::quarkstar ALIAS quarkstar_c)
    quarkstar_shared(quarkstar_c apps/c/quarkstar.map)
    target_include_directories(quarkstar_c INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/apps/c>" "$<INSTALL_INTERFACE:include>")
    set_target_properties(quarkstar_c PROPERTIES OUTPUT_NAME quarkstar EXPORT_NAME quarkstar
      VERSION "${PROJECT_VERSION}" SOVERSION "${PROJECT_VERSION_MAJOR}"
      LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}" PUBLIC_HEADER "${PROJECT_SOURCE_DIR}/apps/c/quarkstar.h")
    # In a folder of its own, for whoever looks for the library of this name looks in a folder.
    add_library(quarkstar_milc SHARED ${milc_sources} $<TARGET_OBJECTS:quarkstar_c_objects>)
    quarkstar_shared(quarkstar_milc apps/c/milc/libquda.map)
    set_target_properties(quarkstar_milc PROPERTIES OUTPUT_NAME quda LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/quarkstar-milc")
  endif()
  if(QUARKSTAR_SIMULATION)
    target_sources(quarkstar PRIVATE apps/simulation/simulation_main.cpp)
    set_target_properties(quarkstar PROPERTIES OUTPUT_NAME quarkstar-sim)
    # SimGrid runs main() of apps/command/main.cpp as one of its actors, under the name by which StarPU knows it.
    set_source_files_properties(apps/command/main.cpp PROPERTIES COMPILE_OPTIONS "-include;starpu_simgrid_wrap.h")
    # What a rank of a simulated job runs. SimGrid's MPI loads a copy for each rank, so that each has globals of its
    # own, those of StarPU among them: hence the static one, and no debug information.
    add_library(quarkstar_rank MODULE apps/simulation/rank_main.cpp)
    set_target_properties(quarkstar_rank PROPERTIES
      PREFIX "" OUTPUT_NAME quarkstar-rank LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
    quarkstar_settings(quarkstar_rank)
    set(layers quarkstar_apps quarkstar_solvers quarkstar_codelets quarkstar_runtime)
    foreach(layer IN LISTS layers)
      list(APPEND archives "$<TARGET_FILE:${layer}>")
    endforeach()
    add_dependencies(quarkstar_rank ${layers})
    target_include_directories(quarkstar_rank PRIVATE "$<TARGET_PROPERTY:quarkstar_apps,INCLUDE_DIRECTORIES>")
    target_compile_definitions(quarkstar_rank PRIVATE "$<TARGET_PROPERTY:quarkstar_apps,COMPILE_DEFINITIONS>")
    target_link_libraries(quarkstar_rank PRIVATE
      -Wl,--start-group ${archives} "${STARPU_LIBDIR}/libstarpu-1.4.a" -Wl,--end-group
      SimGrid::SMPI PkgConfig::HWLOC OpenMP::OpenMP_CXX Threads::Threads fmt::fmt spdlog::spdlog
      tomlplusplus::tomlplusplus pugixml::pugixml ZLIB::ZLIB ${CMAKE_DL_LIBS})
    target_link_options(quarkstar_rank PRIVATE -Wl,--as-needed -Wl,--strip-debug -Wl,-z,defs)
    add_dependencies(quarkstar quarkstar_rank)
  endif()
endif()
