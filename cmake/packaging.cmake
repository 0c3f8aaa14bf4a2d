# make install: the command, the C library with pkg-config's file, the three C++ libraries, their headers, and a package file for
# find_package(quarkstar), which with COMPONENTS C asks for the C library alone. `cmake --install BUILD --component c` installs that.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS quarkstar_runtime quarkstar_codelets quarkstar_solvers EXPORT quarkstar-targets)
if(TARGET quarkstar)
  install(TARGETS quarkstar)
  if(TARGET quarkstar_rank)
    # quarkstar-sim looks for it beside itself.
    install(TARGETS quarkstar_rank LIBRARY DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()
  install(DIRECTORY apps/simulation/machines/ apps/studies/machines/ DESTINATION "${CMAKE_INSTALL_DATADIR}/quarkstar/machines" FILES_MATCHING PATTERN "*.toml")
endif()
if(TARGET quarkstar_c)
  install(TARGETS quarkstar_c EXPORT quarkstar-c-targets COMPONENT c)
  install(EXPORT quarkstar-c-targets NAMESPACE quarkstar:: DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/quarkstar" COMPONENT c)
  file(RELATIVE_PATH QUARKSTAR_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  configure_file(cmake/quarkstar.pc.in "${QUARKSTAR_GENERATED_DIR}/quarkstar.pc" @ONLY)
  install(FILES "${QUARKSTAR_GENERATED_DIR}/quarkstar.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT c)
endif()
if(TARGET quarkstar_milc)
  # MILC's makefile looks for include/ and lib/ below one folder.
  set(milc_folder "${CMAKE_INSTALL_LIBDIR}/quarkstar-milc")
  install(TARGETS quarkstar_milc LIBRARY DESTINATION "${milc_folder}" COMPONENT milc)
  install(FILES apps/c/milc/quda_milc_interface.h apps/c/milc/quda.h apps/c/milc/enum_quda.h DESTINATION "${milc_folder}/include"
    COMPONENT milc)
  install(CODE "file(CREATE_LINK . \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${milc_folder}/lib\" SYMBOLIC)" COMPONENT milc)
endif()
install(DIRECTORY runtime codelets solvers DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/quarkstar"
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
install(FILES "${QUARKSTAR_GENERATED_DIR}/quarkstar_version.hpp" "${QUARKSTAR_GENERATED_DIR}/quarkstar_architectures.hpp"
  "${QUARKSTAR_GENERATED_DIR}/quarkstar_built_architectures.hpp"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/quarkstar")

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/quarkstar")
install(EXPORT quarkstar-targets NAMESPACE quarkstar:: DESTINATION "${package_folder}")
configure_package_config_file(cmake/quarkstar-config.cmake.in "${QUARKSTAR_GENERATED_DIR}/quarkstar-config.cmake"
  INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${QUARKSTAR_GENERATED_DIR}/quarkstar-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${QUARKSTAR_GENERATED_DIR}/quarkstar-config.cmake"
  "${QUARKSTAR_GENERATED_DIR}/quarkstar-config-version.cmake"
  cmake/find_starpu.cmake
  DESTINATION "${package_folder}" COMPONENT c)
