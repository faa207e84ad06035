#!/usr/bin/env bash
# From a fresh Debian 12 to a real model running: installs what is missing, builds, compiles the
# published Magika model (what kind of file is this?), runs it on this README, checks the result
# against the reference evaluator and shows one of its CUDA kernels. Idempotent.
set -euo pipefail
cd "$(dirname "$0")"
start=$SECONDS
say() { printf '\n== [%3d s] %s\n' $((SECONDS - start)) "$*"; }
say "1/4 set-up"
cmake/setup.sh build
say "2/4 build (first time: some minutes; see build/build.log)"
cmake/build.sh
# NVRTC and its parts from the wheel, where CUDA is not installed.
for wheel in "$PWD"/build/venv/lib/python3*/site-packages/nvidia/cu13/lib; do
  [ -d "$wheel" ] && export LD_LIBRARY_PATH="$wheel${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
done
say "3/4 Magika standard_v3_3: compile, run, check"
examples/magika/magika.sh README.md
say "4/4 its CUDA kernels"
examples/magika/kernels.sh
say "done. Next:"
echo "  build/bin/gpucc --help            what else it does, by example"
echo "  examples/magika/magika.sh FILE    the same for a file of yours"
echo "  ./test.sh                         every test"
