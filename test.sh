#!/usr/bin/env bash
# Every test: set-up and build as try.sh does, then ctest. Options go to ctest (-R NAME, -j N).
# GPUCC_DATA=DIR adds the tests against public data sets; without it they are skipped and say so.
set -euo pipefail
cd "$(dirname "$0")"
start=$SECONDS
say() { printf '\n== [%3d s] %s\n' $((SECONDS - start)) "$*"; }
say "1/4 set-up"
cmake/setup.sh build
say "2/4 build"
cmake/build.sh
say "3/4 fuzzers, under ASan and UBSan"
cmake/build.sh fuzz
# NVRTC from the wheel, where CUDA is not installed.
for wheel in "$PWD"/build/venv/lib/python3*/site-packages/nvidia/cu13/lib; do
  [ -d "$wheel" ] && export LD_LIBRARY_PATH="$wheel${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
done
say "4/4 tests${GPUCC_DATA:+ (with data from $GPUCC_DATA)}"
[ -n "${GPUCC_DATA:-}" ] || echo "GPUCC_DATA is not set: tests that read public data sets are skipped"
log=build/test.log
status=0
ctest --test-dir build --output-on-failure --timeout 1200 -j2 "$@" 2>&1 | tee "$log" || status=$?
failed=$(grep -cE '^ *[0-9]+/[0-9]+ Test .*\*\*\*(Failed|Timeout|Exception|Not Run)' "$log" || true)
skipped=$(grep -cE '^ *[0-9]+/[0-9]+ Test .*\*\*\*Skipped' "$log" || true)
total=$(grep -cE '^ *[0-9]+/[0-9]+ Test ' "$log" || true)
[ "$total" -gt 0 ] || { echo "error: no test ran" >&2; failed=1; }
say "next: build/bin/gpucc --help, docs/tour.md"
[ "$skipped" -eq 0 ] || echo "$skipped skipped"
echo "$((total - failed - skipped)) passed, $failed failed"
[ "$status" -eq 0 ] && [ "$failed" -eq 0 ]
