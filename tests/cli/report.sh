#!/usr/bin/env bash
# The report is one file that needs no other, and a browser has nothing to say against it.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
make_configuration
expect 0 '^wrote out/report.html' solve --gauge lattice.ildg --kappa 0.12 --out out
! grep -nE 'https?://|<script|<link|<iframe|src=|url\(|@import' out/report.html || die "the report needs other files"
[ "$(grep -c '<svg ' out/report.html)" = 4 ] || die "not four plots"
! grep -nE '>no data<|[^a-z](nan|inf)[^a-z]' out/report.html || die "the report has empty plots or bad numbers"

open_in_browser out/report.html
