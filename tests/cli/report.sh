#!/usr/bin/env bash
# The report is one file that needs no other, and a browser has nothing to say against it.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
make_configuration
expect 0 '^wrote out/report.html' solve --gauge lattice.ildg --kappa 0.12 --out out
! grep -nE 'https?://|<script|<link|<iframe|src=|url\(|@import' out/report.html || die "the report needs other files"
[ "$(grep -c '<svg ' out/report.html)" = 4 ] || die "not four plots"
! grep -nE '>no data<|[^a-z](nan|inf)[^a-z]' out/report.html || die "the report has empty plots or bad numbers"

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
  echo "SKIPPED the report in a browser: no chromium"
  exit 0
fi
for scheme in 0 1; do  # dark, light
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$folder/profile" --enable-logging=stderr --v=0 \
    --blink-settings=preferredColorScheme=$scheme --window-size=1280,2400 --screenshot="$folder/page.png" \
    "file://$folder/out/report.html" > browser.txt 2>&1 || { cat browser.txt; die "the browser fails"; }
  ! grep -E 'CONSOLE|Page load failed' browser.txt || die "the browser complains"
  [ "$(stat -c %s page.png)" -gt 20000 ] || die "the page is empty"
done
