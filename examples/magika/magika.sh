#!/usr/bin/env bash
# magika.sh FILE: compiles the published Magika model, runs it on the bytes of FILE without the
# compiler (gpucc-run), prints the label, and checks the output against ONNX Runtime.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
file=${1:?usage: magika.sh FILE}
python=$root/build/venv/bin/python
work=$root/build/magika
mkdir -p "$work"
model=$("$python" "$root/examples/magika/features.py" model)
[ "$work/magika.plan" -nt "$root/build/bin/gpucc" ] ||
  "$root/build/bin/gpucc" compile "$model" --profile unk__214=1 -o "$work/magika.plan"
"$python" "$root/examples/magika/features.py" features "$file" "$work/in.npz"
"$root/build/bin/gpucc-run" "$work/magika.plan" --inputs "$work/in.npz" --outputs "$work/out.npz" --iterations 5
printf 'label of %s: ' "$file"
"$python" "$root/examples/magika/features.py" label "$work/out.npz"
"$python" - "$model" "$work/in.npz" "$work/expect.npz" <<'PY'
import sys
import numpy as np, onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
inputs = dict(np.load(sys.argv[2]))
names = [o.name for o in session.get_outputs()]
np.savez(sys.argv[3], **dict(zip(names, session.run(names, inputs))))
PY
echo "against ONNX Runtime:"
"$root/build/bin/gpucc" check "$work/magika.plan" --inputs "$work/in.npz" --expect "$work/expect.npz"
