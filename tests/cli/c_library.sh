#!/usr/bin/env bash
# The C library as others meet it: installed by itself, found by pkg-config and by CMake, exporting qs_* alone, called from C99 and C++ with
# no header or library of ours, and with the bits of the command.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source_folder=$(realpath "${QUARKSTAR_SOURCE_DIR:-$here/../..}")
build=$(dirname "$QUARKSTAR")
[ -e "$build/libquarkstar.so" ] || { echo "no libquarkstar.so beside the command"; exit 77; }
for tool in cc c++ cmake pkg-config nm; do command -v "$tool" >/dev/null || { echo "no $tool"; exit 77; }; done
if ldd "$build/libquarkstar.so" | grep -qE 'lib[atu]b?san'; then echo "a client would have to be built with the sanitizer"; exit 77; fi

cmake --install "$build" --prefix "$PWD/installed" --component c >install.txt || { cat install.txt; die "cmake --install"; }
others=$(nm -D --defined-only installed/lib/libquarkstar.so | awk '$3 !~ /^qs_/' || true)
[ -z "$others" ] || die "libquarkstar.so exports more than qs_*: $others"
readelf -d installed/lib/libquarkstar.so | grep -q 'SONAME.*libquarkstar.so.0' || die "no versioned soname"

export PKG_CONFIG_PATH=$PWD/installed/lib/pkgconfig LD_LIBRARY_PATH=$PWD/installed/lib
flags=$(pkg-config --cflags --libs quarkstar)
warnings="-Wall -Wextra -Werror -pedantic"
# shellcheck disable=SC2086  # flags are several words
cc -std=c99 $warnings -O1 "$source_folder/tests/clients/client.c" -o client $flags -lm
# shellcheck disable=SC2086
cc -std=c99 $warnings -O1 "$source_folder/examples/c/pion.c" -o pion $flags -lm
cmake -S "$source_folder/tests/clients" -B clients -DCMAKE_PREFIX_PATH="$PWD/installed" >cmake.txt 2>&1 || { cat cmake.txt; die "find_package(quarkstar COMPONENTS C)"; }
cmake --build clients >cmake.txt 2>&1 || { cat cmake.txt; die "the C++ client does not compile"; }

[ "$(./client)" = "all well" ] || die "the C client, or something was printed"
./clients/client_cpp >cpp.txt || { cat cpp.txt; die "the C++ client"; }

# The command's bits, for every action.
make_configuration
compare() {
  local action=$1 flags=()
  shift
  for setting in "$@"; do flags+=("--${setting%%=*}" "${setting#*=}"); done
  expect 0 '^wrote history.json' solve --gauge lattice.ildg --columns 0 --residual-history --json history.json --action "$action" "${flags[@]}"
  grep -oE '"-?0x[^"]*"' history.json | tr -d '"' >history.txt
  ./client history lattice.ildg "$action" history.txt "$@" || die "$action $*: the client's bits are not the command's"
}
compare wilson kappa=0.12
compare wilson kappa=0.12 precision=half links=12 solver=cgnr
compare hisq mass=0.2 precision=single links=13 boundary=x=0.3
compare asqtad mass=0.2 u0=0.9
compare naive mass=0.2
# Those that were added since, as they are without settings.
for action in $("$QUARKSTAR" solve --help | sed -n 's/.*Fermion action: \(.*\)/\1/p' | tr -d ',' | sed 's/(default)//'); do
  grep -q "^compare $action " "$here/c_library.sh" || compare "$action"
done

# The pion of a configuration of MILC's is the one known from elsewhere, and the example prints it.
if [ -e "$data/golden.json" ]; then
  python3 -c 'import json, sys; print(*json.load(open(sys.argv[1]))["milc.l4444.wilson.k0.12.p"]["pion_pt_C_t"], sep="\n")' "$data/golden.json" >golden.txt
  ./client golden "$data/milc/lat.sample.l4444" golden.txt kappa=0.12 boundary=t=periodic tol=1e-12 || die "the pion is not the one of golden.json"
else
  echo "skipped: the pion of golden.json ($data is not there)"
fi
./pion lattice.ildg 0.11 >pion.txt || die "examples/c/pion.c"
[ "$(grep -c 'residual' pion.txt)" = 12 ] && [ "$(grep -vc '^#' pion.txt)" = 8 ] || { cat pion.txt; die "examples/c/pion.c prints something else"; }
