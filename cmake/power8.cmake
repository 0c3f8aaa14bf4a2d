# Toolchain: POWER8 (little endian) on Linux, with Debian's cross compiler; programs run under qemu. `./bootstrap test-power8` uses it.
#   -DQUARKSTAR_POWER8_ROOT=DIR   Debian's ppc64el libraries and headers, unpacked by scripts/power8-root
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ppc64le)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES QUARKSTAR_POWER8_ROOT)

set(triplet powerpc64le-linux-gnu)
set(libraries "${QUARKSTAR_POWER8_ROOT}/usr/lib/${triplet}")
set(CMAKE_C_COMPILER ${triplet}-gcc)
set(CMAKE_CXX_COMPILER ${triplet}-g++)
set(CMAKE_C_FLAGS_INIT "-mcpu=power8 -isystem ${QUARKSTAR_POWER8_ROOT}/usr/include/${triplet}")
set(CMAKE_CXX_FLAGS_INIT "${CMAKE_C_FLAGS_INIT}")
# What the libraries need themselves.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${libraries}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${CMAKE_EXE_LINKER_FLAGS_INIT}")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "${CMAKE_EXE_LINKER_FLAGS_INIT}")

set(CMAKE_FIND_ROOT_PATH "${QUARKSTAR_POWER8_ROOT}" /usr/${triplet})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
# scripts/power8-root has put the folder's own path into these files.
set(ENV{PKG_CONFIG_LIBDIR} "${libraries}/pkgconfig:${QUARKSTAR_POWER8_ROOT}/usr/share/pkgconfig")

# The compiler wrappers on the path are this machine's own and would name its libraries.
set(MPI_C_LIB_NAMES mpi CACHE STRING "")
set(MPI_C_HEADER_DIR "${libraries}/openmpi/include" CACHE PATH "")
set(MPI_mpi_LIBRARY "${libraries}/openmpi/lib/libmpi.so" CACHE FILEPATH "")
set(MPI_SKIP_COMPILER_WRAPPER ON)
set(HDF5_C_COMPILER_EXECUTABLE "" CACHE FILEPATH "")
set(HDF5_C_INCLUDE_DIR "${QUARKSTAR_POWER8_ROOT}/usr/include/hdf5/serial" CACHE PATH "")
set(HDF5_C_LIBRARY_hdf5 "${libraries}/hdf5/serial/libhdf5.so" CACHE FILEPATH "")

# Code is for POWER8; the processor is a later one because the C library's trigonometric functions set the rounding by an instruction
# (mffscrni) that a POWER8 takes for an older one, while qemu's POWER8 refuses it.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-ppc64le -cpu power9 -L "${QUARKSTAR_POWER8_ROOT}"
  -E "LD_LIBRARY_PATH=/lib/${triplet}:/usr/lib/${triplet}:${libraries}")
