#!/usr/bin/env bash
# gauge generate, convert, info: the same bits for any cut, every format read back, damage found.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
make_configuration
expect 0 '^plaquette ' gauge generate cut.ildg --lattice 4 4 4 8 --beta 6.0 --sweeps 10 --seed 7 --format ildg --blocks 1,2,1,2 --workers 2
"$QUARKSTAR" gauge convert lattice.ildg first.milc --format milc > /dev/null
"$QUARKSTAR" gauge convert cut.ildg second.milc --format milc > /dev/null
# Behind the header, which has the date: all links.
cmp <(tail -c +97 first.milc) <(tail -c +97 second.milc) || die "the configuration depends on the cut"

plaquette_of() { "$QUARKSTAR" gauge info "$1" --json | grep -o '"average": [0-9.e-]*'; }
expected=$(plaquette_of lattice.ildg)
for form in nersc ildg; do
  expect 0 "^wrote copy.$form" gauge convert lattice.ildg "copy.$form" --format $form
  [ "$(plaquette_of copy.$form)" = "$expected" ] || die "the plaquette changed in $form"
  expect 0 '^wrote single' gauge convert "copy.$form" "single.$form" --format $form --precision single
  expect 0 'single precision' gauge info "single.$form"
  expect 0 ' ok: stored ' gauge info "copy.$form"
done
expect 0 '^format +MILC' gauge info first.milc
expect 0 '"verdict": "ok"' gauge info first.milc --json

# A header that states another plaquette or link trace; the checksum is of the links only.
for stated in 'PLAQUETTE plaquette' 'LINK_TRACE link trace'; do
  key=${stated%% *} name=${stated#* }
  sed "s/^$key = .*/$key = 0.51234567/" copy.nersc > stated.nersc
  cmp -s copy.nersc stated.nersc && die "no $key in the header"
  for command in 'gauge info stated.nersc' 'solve --gauge stated.nersc --json run.json'; do
    expect 2 "error: stated.nersc: the links have $name -?0\.[0-9]+, the header states 0\.51234567[0-9]*; .*another copy" $command
  done
done
absent run.json

# One bit in the middle of the links.
cp copy.nersc flipped.nersc
printf '\x01' | dd of=flipped.nersc bs=1 seek=20000 conv=notrunc status=none
expect 2 'error: flipped.nersc.*checksum' gauge info flipped.nersc
