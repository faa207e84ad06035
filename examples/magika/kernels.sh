#!/usr/bin/env bash
# kernels.sh: the Magika model's kernels for three GPU generations (no GPU is needed), and the CUDA
# C++ of one of them.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$root/build/magika
mkdir -p "$work"
model=$("$root/build/venv/bin/python" "$root/examples/magika/features.py" model)
[ "$work/magika-cuda.plan" -nt "$root/build/bin/gpucc" ] ||
  "$root/build/bin/gpucc" compile "$model" --profile unk__214=1 --target cuda:sm_80,sm_90a,sm_100a \
    --jobs 2 -o "$work/magika-cuda.plan"
"$root/build/bin/gpucc" show "$work/magika-cuda.plan" --kernels >"$work/kernels.txt"
grep -E '^[a-z_0-9]+ +[0-9]+ launches' "$work/kernels.txt" | cut -c1-150
echo
echo "the first of them:"
sed -n '3,/^}/p' "$work/kernels.txt" | head -n 60
echo "(all: $work/kernels.txt)"
