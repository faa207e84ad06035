#!/usr/bin/env bash
# Configures (once) and builds a preset, two jobs at a time, and shows progress.
#   cmake/build.sh            preset `default` into build/; the log is build/build.log
#   cmake/build.sh fuzz       only the fuzz targets, under ASan and UBSan, into build/fuzz/
#
# Objects are cached by ccache. Precompiled headers hold absolute paths, so another clone would miss every
# file that uses one: on CI machines (CI=true) the build goes through one stable link in the user's cache folder.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD
preset=${1:-default}
case $preset in
  default) folder=build ;;
  fuzz) folder=build/fuzz ;;
  *) echo "error: no preset '$preset' here; give default or fuzz (others: cmake --preset NAME)" >&2; exit 2 ;;
esac
if command -v ccache >/dev/null; then
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
fi
mkdir -p "$folder"
if [ ! -e "$folder/build.ninja" ]; then
  at=$source
  if [ -n "${CI:-}" ]; then
    cache=${XDG_CACHE_HOME:-$HOME/.cache}/gpucc
    mkdir -p "$cache"
    at=$cache/source
    ln -sfn "$source" "$at"
  fi
  echo "configuring ($folder/configure.log)"
  (cd "$at" && cmake -S "$at" -B "$at/$folder" --preset "$preset") >"$folder/configure.log" 2>&1 || {
    tail -n 30 "$folder/configure.log"
    echo "error: configuring failed (above); cmake/setup.sh installs what is needed" >&2
    exit 1
  }
fi
targets=()
[ "$preset" != fuzz ] || targets=(--target fuzz-onnx-import fuzz-plan-loader write-test-plans)
status=0
cmake --build "$folder" "${targets[@]}" -- -j2 2>&1 | tee "$folder/build.log" |
  awk '/error:|FAILED/ { print } /^\[[0-9]+\/[0-9]+\]/ { if (++n % 40 == 1) { print $1; fflush() } }' || status=$?
[ "${PIPESTATUS[0]:-0}" -eq 0 ] && [ "$status" -eq 0 ] || {
  grep -E -A5 'error:|FAILED' "$folder/build.log" | head -n 40
  echo "error: the build failed; all of it: $folder/build.log" >&2
  exit 1
}
tail -n 1 "$folder/build.log"
