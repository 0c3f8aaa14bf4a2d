# What the tests of the command share. Sourced; needs QUARKSTAR = path of the executable.
set -euo pipefail
: "${QUARKSTAR:?set QUARKSTAR to the path of the executable}"
QUARKSTAR=$(realpath "$QUARKSTAR")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
data=$(realpath -m "${QUARKSTAR_DATA:-${QUARKSTAR_SOURCE_DIR:-$here/../..}/../shared/data}")  # reference data; may be missing
# In memory where there is room: on a busy disk a flush takes half a minute, and ranks have short watchdogs.
[ ! -w /dev/shm ] || [ "$(df --output=avail /dev/shm | tail -n 1)" -lt 2000000 ] || export TMPDIR=/dev/shm
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

die() { echo "FAILED: $*"; exit 1; }

# expect CODE PATTERN ARGUMENT...: the command ends with that exit code, and its output matches the extended regular expression.
# With a code other than 0, stderr ends in exactly one line of error.
expect() {
  local code=$1 pattern=$2 got=0
  shift 2
  "$QUARKSTAR" "$@" >stdout.txt 2>stderr.txt || got=$?
  [ "$got" = "$code" ] || { cat stdout.txt stderr.txt; die "quarkstar $*: exit code $got instead of $code"; }
  grep -qE -- "$pattern" stdout.txt stderr.txt || { cat stdout.txt stderr.txt; die "quarkstar $*: no line matches '$pattern'"; }
  if [ "$code" != 0 ]; then
    [ "$(grep -c '^quarkstar: error: ' stderr.txt)" = 1 ] || { cat stderr.txt; die "quarkstar $*: not one line of error"; }
  fi
}

no_temporary_files() { [ -z "$(find . -name '.*.tmp*' -o -name '*.tmp')" ] || die "temporary files are left: $(find . -name '*tmp*')"; }

# absent FILE...: none of them exists, nor a temporary file beside it.
absent() {
  local file
  for file in "$@"; do [ ! -e "$file" ] || die "$file exists"; done
  no_temporary_files
}

# two_quarks SETTING...: all.toml, a campaign of lat.1 and lat.2 into all, with a Wilson and a HISQ quark from two points, and these settings.
two_quarks() {
  cat > all.toml << END
configurations = ["lat.[12]"]
out = "all"
sources = ["point:0,0,0,0", "point:0,0,0,4"]
correlators = ["pion", "rho"]
no-tune = true
tol = 1e-9
$(printf '%s\n' "$@")
[quark.light]
action = "wilson"
kappa = 0.14
[quark.staggered]
action = "hisq"
mass = 0.1
END
}

# same_results OUT: the bytes of the campaign in all, of lat.1 and lat.2.
same_results() {
  local file
  for file in configurations/lat.1.h5 configurations/lat.2.h5 campaign.h5; do cmp "all/$file" "$1/$file" || die "$1/$file is not what one run writes"; done
}

# leave_restart_file FILE ARGUMENT...: kills the command, which computes modes for FILE, once its restart file is there.
leave_restart_file() {
  local file=$1 attempt victim
  shift
  for ((attempt = 0; attempt < 20; ++attempt)); do
    "$QUARKSTAR" "$@" --out "$file" > /dev/null 2>&1 &
    victim=$!
    until [ -e "$file.restart" ] || ! kill -0 $victim 2> /dev/null; do sleep 0.005; done
    kill -KILL $victim 2> /dev/null || true
    wait $victim 2> /dev/null || true
    [ ! -e "$file.restart" ] || return 0
    rm -f "$file"
  done
  die "no kill in 20 left a restart file"
}

# A small configuration, made once for a test.
make_configuration() {
  expect 0 '^plaquette ' gauge generate lattice.ildg --lattice 4 4 4 8 --beta 6.0 --sweeps 10 --seed 7 --format ildg
}

# results FILE: residual histories of a JSON report, and correlators where all columns were solved.
results() { grep -oE '"-?0x[^"]*"' "$1"; sed -n '/"correlators": {/,$p' "$1" | sed -nE '/^ *-?[0-9]/p'; }

# open_in_browser PAGE [PATTERN]: a browser, where there is one, has nothing to say against a file of HTML, on dark and on light paper, and what it
# has made of it, on one line, matches the extended regular expression.
open_in_browser() {
  local browser scheme
  browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
  [ -n "$browser" ] || { echo "SKIPPED $1 in a browser: no chromium"; return 0; }
  for scheme in 0 1; do
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$folder/profile" --enable-logging=stderr --v=0 \
      --blink-settings=preferredColorScheme=$scheme --window-size=1280,2400 --screenshot="$folder/page.png" "file://$folder/$1" > browser.txt 2>&1 ||
      { cat browser.txt; die "the browser fails"; }
    ! grep -E 'CONSOLE|Page load failed' browser.txt || die "the browser complains"
    [ "$(stat -c %s page.png)" -gt 20000 ] || die "the page is empty"
  done
  [ -n "${2:-}" ] || return 0
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$folder/profile" --dump-dom "file://$folder/$1" 2> browser.txt > dom.txt ||
    { cat browser.txt; die "the browser fails"; }
  tr '\n' ' ' < dom.txt | grep -qE -- "$2" || die "the browser does not see '$2' in $1"
}
