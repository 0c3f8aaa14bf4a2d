#!/usr/bin/env bash
# The C library as others meet it: installed by itself, found by pkg-config and by CMake, exporting qs_* alone, called from C99 and C++ with
# no header or library of ours, and with the bits of the command.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
source "$here/clients.bash"
needs_library libquarkstar.so cc c++ cmake pkg-config nm

cmake --install "$build" --prefix "$PWD/installed" --component c >install.txt || { cat install.txt; die "cmake --install"; }
others=$(nm -D --defined-only installed/lib/libquarkstar.so | awk '$3 !~ /^qs_/' || true)
[ -z "$others" ] || die "libquarkstar.so exports more than qs_*: $others"
if nm -D --undefined-only installed/lib/libquarkstar.so | grep spdlog; then die "libquarkstar.so uses its caller's spdlog"; fi
readelf -d installed/lib/libquarkstar.so | grep -q 'SONAME.*libquarkstar.so.0' || die "no versioned soname"

# What docs/howto/c.md tells to do, to the letter.
line=$(sed -n "s|PREFIX|$PWD/installed|g; s|^ *cc program.c|cc program.c|p" "$source_folder/docs/howto/c.md")
[ "$(wc -l <<<"$line")" = 1 ] && [ -n "$line" ] || die "docs/howto/c.md has no line that compiles"
printf '#include <quarkstar.h>\n#include <stdio.h>\nint main(void) { return puts(qs_version()) < 0; }\n' >program.c
(unset PKG_CONFIG_PATH LD_LIBRARY_PATH && eval "$line" && ./program) >program.txt 2>&1 || { cat program.txt; die "a program that is built as docs/howto/c.md says"; }
grep -q '^quarkstar ' program.txt || { cat program.txt; die "a program that is built as docs/howto/c.md says prints something else"; }

export PKG_CONFIG_PATH=$PWD/installed/lib/pkgconfig LD_LIBRARY_PATH=$PWD/installed/lib
flags=$(pkg-config --cflags --libs quarkstar)
warnings="-Wall -Wextra -Werror -pedantic"
# shellcheck disable=SC2086  # flags are several words
cc -std=c99 $warnings -O1 "$source_folder"/tests/clients/client{,_solves,_hadrons}.c -o client $flags -lm
# shellcheck disable=SC2086
cc -std=c99 $warnings -O1 "$source_folder/tests/clients/compare.c" -o compare $flags -lm
# shellcheck disable=SC2086
cc -std=c99 $warnings -O1 "$source_folder/examples/c/pion.c" -o pion $flags -lm
cmake -S "$source_folder/tests/clients" -B clients -DCMAKE_PREFIX_PATH="$PWD/installed" >cmake.txt 2>&1 || { cat cmake.txt; die "find_package(quarkstar COMPONENTS C)"; }
cmake --build clients >cmake.txt 2>&1 || { cat cmake.txt; die "the C++ client does not compile"; }

[ "$(./client)" = "all well" ] || die "the C client, or something was printed"
./clients/client_cpp >cpp.txt || { cat cpp.txt; die "the C++ client"; }

# The command's bits, for every action.
make_configuration
residuals() {
  local action=$1 flags=()
  shift
  for setting in "$@"; do flags+=("--${setting%%=*}" "${setting#*=}"); done
  expect 0 '^wrote history.json' solve --gauge lattice.ildg --columns 0 --residual-history --json history.json --action "$action" "${flags[@]}"
  grep -oE '"-?0x[^"]*"' history.json | tr -d '"' >history.txt
  ./compare history lattice.ildg "$action" history.txt "$@" || die "$action $*: the client's bits are not the command's"
}
residuals wilson kappa=0.12
residuals clover kappa=0.11 csw=1.2 precision=single links=12
residuals twisted-mass kappa=0.12 mu=0.2 csw=0.5 schur=symmetric
residuals wilson kappa=0.12 precision=half links=12 solver=cgnr
residuals hisq mass=0.2 precision=single links=13 boundary=x=0.3
residuals asqtad mass=0.2 u0=0.9
residuals naive mass=0.2
# Those that were added since, as they are without settings.
for action in $("$QUARKSTAR" solve --help | sed -n 's/.*Fermion action: \(.*\)/\1/p' | tr -d ',' | sed 's/(default)//'); do
  grep -q "^residuals $action " "$here/c_library.sh" || residuals "$action"
done

# And its correlators, some with momentum, folded, complex; of runs with three-point functions these; with eigenvectors low-mode averages.
contract() {
  local action=$1 flags=()
  shift
  for setting in "$@"; do
    if [ "$setting" = fold=true ]; then flags+=(--fold); else flags+=("--${setting%%=*}" "${setting#*=}"); fi
    [[ $setting != deflate=* ]] || flags+=(--low-mode-average)
  done
  expect 0 '^wrote correlators.json' solve --gauge lattice.ildg --source point:1,0,2,3 --json correlators.json --action "$action" "${flags[@]}"
  python3 - >correlators.txt <<'EOF'
import json
correlators = json.load(open("correlators.json"))["correlators"]
for name in [name for name in correlators if "_3pt_" in name] or correlators:
    for t, value in enumerate(correlators[name]):
        print(name, t, *(float(x).hex() for x in (value if isinstance(value, list) else [value])))
EOF
  ./compare contract lattice.ildg "$action" correlators.txt "$@" || die "$action $*: the client's correlators are not the command's"
}
if command -v python3 >/dev/null; then
  contract wilson kappa=0.11
  contract twisted-mass kappa=0.11 mu=0.3 correlators=mesons
  contract clover kappa=0.11 csw=1.1 correlators=mesons,octet momenta=0,0,0+1,0,-1 fold=true
  contract hisq mass=0.3 momenta=0,0,0+0,1,0
  contract clover kappa=0.11 csw=1.1 nrhs=5 three-points=pion:4,0,0,1+proton_u:3 currents=vector_t,axial,conserved \
    current-momenta=0,0,0+0,0,1 sinks=point+gaussian:1,4
  contract twisted-mass kappa=0.11 mu=0.3 precision=single three-points=pion:5
  expect 0 '^wrote hisq.h5' eigen --gauge lattice.ildg --action hisq --modes 10 --out hisq.h5
  contract hisq mass=0.05 deflate=hisq.h5 momenta=0,0,0+0,1,0
  expect 0 '^wrote clover.h5' eigen --gauge lattice.ildg --action clover --kappa 0.11 --csw 1.1 --modes 10 --out clover.h5
  contract clover kappa=0.11 csw=1.1 deflate=clover.h5 correlators=mesons,octet fold=true
  contract moebius mass=0.3 ls=4 three-points=proton_mixed_d:2,1,0,0
else
  echo "skipped: correlators of the command (no python3)"
fi

# The pion of a configuration of MILC's is the one known from elsewhere, and the example prints it.
if [ -e "$data/golden.json" ]; then
  python3 -c 'import json, sys; print(*json.load(open(sys.argv[1]))["milc.l4444.wilson.k0.12.p"]["pion_pt_C_t"], sep="\n")' "$data/golden.json" >golden.txt
  ./compare golden "$data/milc/lat.sample.l4444" golden.txt kappa=0.12 boundary=t=periodic tol=1e-12 || die "the pion is not the one of golden.json"
else
  echo "skipped: the pion of golden.json ($data is not there)"
fi
./pion lattice.ildg 0.11 >pion.txt || die "examples/c/pion.c"
[ "$(grep -c 'residual' pion.txt)" = 12 ] && [ "$(grep -vc '^#' pion.txt)" = 8 ] || { cat pion.txt; die "examples/c/pion.c prints something else"; }
