#!/usr/bin/env bash
# howto_blocks.sh SOURCE OUT PAGE [FILE...]
# Writes the C++ and CMake blocks of a page of docs/howto/ (path relative to SOURCE, the project's root) into the folder OUT, or only
# those of the FILEs. The line of text before a block says where it goes:
#   ... `FILE`:                  it is the whole of a new file
#   ... `FILE`, after `TEXT`:    it goes into a copy of that file of the project, behind the first line with TEXT
# Compilers name page and line in what they say about it.
set -euo pipefail
source=$1 out=$2 page=$3
shift 3

awk -v source="$source" -v out="$out" -v page="$page" -v wanted=" $* " '
  function fail(message) { printf "%s:%d: %s\n", page, NR, message > "/dev/stderr"; failed = 1; exit 1 }
  function is_there(path,   line, result) { result = (getline line < path) >= 0; close(path); return result }
  # Where the block goes: file and anchor ("" for a whole file).
  function place(   parts, n) {
    n = split(text, parts, "`")
    anchor = ""
    if (n >= 3 && parts[n] == ":") {
      file = parts[n - 1]
      if (n >= 5 && parts[n - 2] == ", after ") { anchor = parts[n - 1]; file = parts[n - 3] }
      if (file ~ /^[a-z][a-zA-Z0-9_\/]*\.[a-z]+$/) return
    }
    fail("the line before a block must end in `FILE`: or in `FILE`, after `TEXT`:")
  }
  function write_whole() {
    if (is_there(source "/" file)) fail(file " is a file of the project already")
    printf "%s", block > (out "/" file)
    close(out "/" file)
  }
  # Blocks that go into one file, each behind the first line with its anchor.
  function insert(   line, number, all, i, done) {
    i = ++blocks[file]
    text_of[file, i] = block
    anchor_of[file, i] = anchor
    while ((getline line < (source "/" file)) > 0) {
      all = all line "\n"
      number++
      for (i = 1; i <= blocks[file]; i++) {
        if (done[i] || index(line, anchor_of[file, i]) == 0) continue
        all = all text_of[file, i] "#line " number + 1 " \"" file "\"\n"
        done[i] = 1
      }
    }
    close(source "/" file)
    if (!done[blocks[file]]) fail(file " has no line with " anchor)
    printf "%s", all > (out "/" file)
    close(out "/" file)
  }
  !inside && /^```(cpp|cmake)$/ { place(); block = "#line " NR + 1 " \"" page "\"\n"; inside = 1; next }
  inside && /^```$/ {
    inside = 0
    if (wanted ~ /[^ ]/ && !index(wanted, " " file " ")) next
    folder = out "/" file
    sub(/\/[^\/]*$/, "", folder)
    if (system("mkdir -p \"" folder "\"") != 0) fail("cannot make " folder)
    if (anchor == "") write_whole(); else insert()
    next
  }
  inside { block = block $0 "\n"; next }
  /[^ ]/ { text = $0 }
  END { if (inside && !failed) fail("a block without an end") }
' "$source/$page"
