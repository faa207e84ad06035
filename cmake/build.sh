#!/usr/bin/env bash
# Configures (once) and builds preset `default` into build/, two jobs at a time, and shows progress. The
# log is build/build.log.
#
# Objects are cached by ccache. Precompiled headers hold absolute paths, so another clone would miss every
# file that uses one: on CI machines (CI=true) the build goes through one stable link in the user's cache folder.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD
if command -v ccache >/dev/null; then
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
fi
mkdir -p build
if [ ! -e build/build.ninja ]; then
  at=$source
  if [ -n "${CI:-}" ]; then
    cache=${XDG_CACHE_HOME:-$HOME/.cache}/gpucc
    mkdir -p "$cache"
    at=$cache/source
    ln -sfn "$source" "$at"
  fi
  echo "configuring (build/configure.log)"
  (cd "$at" && cmake -S "$at" -B "$at/build" --preset default) >build/configure.log 2>&1 || {
    tail -n 30 build/configure.log
    echo "error: configuring failed (above); cmake/setup.sh installs what is needed" >&2
    exit 1
  }
fi
status=0
cmake --build build -- -j2 2>&1 | tee build/build.log |
  awk '/error:|FAILED/ { print } /^\[[0-9]+\/[0-9]+\]/ { if (++n % 40 == 1) { print $1; fflush() } }' || status=$?
[ "${PIPESTATUS[0]:-0}" -eq 0 ] && [ "$status" -eq 0 ] || {
  grep -E -A5 'error:|FAILED' build/build.log | head -n 40
  echo "error: the build failed; all of it: build/build.log" >&2
  exit 1
}
tail -n 1 build/build.log
