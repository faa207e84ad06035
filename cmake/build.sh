#!/usr/bin/env bash
# Configures (once) and builds preset `default` into build/, two jobs at a time. The log is
# build/build.log; progress is shown.
#
# Objects are cached by ccache. Precompiled headers hold absolute paths, so another clone would miss
# every file: the build therefore runs through one stable link in the user's cache folder.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD
if command -v ccache >/dev/null; then
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/gpucc
  mkdir -p "$cache"
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
fi
if [ ! -e build/build.ninja ]; then
  link=${cache:-/tmp}/source
  if [ -n "${CI:-}" ] && [ ! -e "$link/build/.building" ]; then
    ln -sfn "$source" "$link"
    cd "$link"
  fi
  cmake -S . -B build --preset default >build/configure.log 2>&1 || {
    tail -n 30 build/configure.log
    echo "error: configuring failed (above); cmake/setup.sh installs what is needed" >&2
    exit 1
  }
fi
cmake --build "$source/build" -j2 2>&1 | tee "$source/build/build.log" |
  { if [ -t 1 ]; then grep --line-buffered -E '^\[|error|FAILED' | while read -r l; do printf '\r\033[K%.100s' "$l"; done; echo; else awk '/error|FAILED/ {print} /^\[[0-9]+\/[0-9]+\]/ { n++; if (n % 50 == 0) print $1 }'; fi; }
[ "${PIPESTATUS[0]}" -eq 0 ] || { grep -E -A5 'error:|FAILED' "$source/build/build.log" | head -n 40; echo "error: the build failed; all of it: build/build.log" >&2; exit 1; }
