#!/usr/bin/env bash
# Fields in GPU memory, given to the C library and to the Python package: with a stand-in for CUDA's driver, and with the driver where there is
# a GPU. What there is without a driver, errors, is in cli.c_library and cli.python.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$here/clients.bash"
needs_library libquarkstar.so cc c++
mkdir fake
c++ -std=c++20 -Wall -Wextra -Werror -O1 -shared -fPIC "$source_folder/tests/fake/fake_cuda.cpp" -o fake/libcuda.so.1
cc -std=c99 -Wall -Wextra -Werror -pedantic -O1 -I "$source_folder/apps/c" "$source_folder/tests/clients/device.c" -o device -L "$build" -lquarkstar -lm -ldl \
  -Wl,-rpath,"$build" -Wl,-rpath-link,"$build"
find_python
export PYTHONPATH=$source_folder/apps/python QUARKSTAR_LIBRARY=$build/libquarkstar.so.0 PYTHONDONTWRITEBYTECODE=1

# with NAME DEVICES COMMAND...
with() {
  local name=$1 devices=$2
  shift 2
  "$@" ./device "$devices" >out.txt 2>err.txt || { cat out.txt err.txt; die "the C client, $name, devices $devices"; }
  [ "$(cat out.txt)" = "all well" ] || { cat out.txt; die "something was printed"; }
  [ -n "$python" ] || { echo "skipped: Python, no numpy"; return 0; }
  "$@" "$python" "$source_folder/tests/clients/python_device_test.py" "$devices" >python.txt 2>&1 || { cat python.txt; die "Python, $name, devices $devices"; }
}
with "stand-in" cpu env LD_LIBRARY_PATH="$PWD/fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
code=0
./device cpu >out.txt 2>err.txt || code=$?
if [ $code = 77 ]; then
  echo "SKIPPED fields in the memory of a GPU: no GPU"
else
  with "GPU" cpu env
  if "$QUARKSTAR" --version | grep -q CUDA; then with "GPU" cuda env; fi
fi
