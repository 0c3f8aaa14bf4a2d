# What the tests of the libraries for other programs share. Sourced after testing.bash.
# needs_library FILE TOOL...: the test is skipped where the build has no such library, or it cannot be linked, or a tool is missing. Sets
# source_folder and build.
needs_library() {
  local tool
  source_folder=$(realpath "${QUARKSTAR_SOURCE_DIR:-$here/../..}")
  build=$(dirname "$QUARKSTAR")
  [ -e "$build/$1" ] || { echo "no $1 beside the command"; exit 77; }
  for tool in "${@:2}"; do command -v "$tool" >/dev/null || { echo "no $tool"; exit 77; }; done
  if ldd "$build/$1" | grep -qE 'lib[atu]b?san'; then echo "a client would have to be built with the sanitizer"; exit 77; fi
}
# find_python: sets python to one that has numpy; empty where there is none.
find_python() {
  local candidate
  python=
  for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import numpy' 2>/dev/null; then
      python=$candidate
      break
    fi
  done
}
