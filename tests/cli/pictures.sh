#!/usr/bin/env bash
# The README's picture of the demo has the numbers that the README prints, in any light, and is small. That of speeds: model.sh.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
cd "$QUARKSTAR_SOURCE_DIR"
for picture in docs/pictures/*.svg; do
  grep -qF "$picture" README.md || die "$picture is not in the README"
  grep -q 'prefers-color-scheme: dark' "$picture" || die "$picture has no colours for a dark page"
  [ "$(stat -c %s "$picture")" -lt 60000 ] || die "$picture is larger than 60 kB"
done
# Effective masses of the pion: the last column of the README's table, and the points of the picture.
sed -nE '/a m_pion \(cosh\)/,/^ +\.\.\.$/s/^ +([0-9]+) .* ([0-9]+\.[0-9]{6})$/\1 \2/p' README.md > "$folder/printed"
[ "$(wc -l < "$folder/printed")" -ge 6 ] || die "no masses in the README"
grep -oE '<title>pion: [0-9]+, [0-9.]+' docs/pictures/demo.svg | awk '{ printf "%d %.6f\n", $2, $3 }' > "$folder/drawn"
while read -r line; do grep -qxF "$line" "$folder/drawn" || die "the picture of the demo lacks the mass of t = $line"; done < "$folder/printed"
