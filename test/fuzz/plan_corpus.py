"""Seeds for fuzz-plan-loader: plan_corpus.py FOLDER --writer write-test-plans --gpucc gpucc. The hand-built plans of the
runtime's tests, and the indexes of plans that gpucc compiles: two profiles, library calls, a training step, pipeline
stages. Compiled plans are whole files as well, but for what a fuzzer could not get through: their bytes of weights."""
import argparse
import pathlib
import struct
import subprocess
import sys
import tempfile

MAKE_MODELS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "models" / "make_models.py"
PLANS = {
    "profiles": ("mlp", ["--profile", "batch=2", "--profile", "batch=4"]),
    "lenet": ("lenet", []),
    "decoder": ("gpt2", ["--profile", "batch=1,seq=4"]),
    "step": ("mlp", ["--train", "--profile", "batch=8"]),
    "stages": ("mlp", ["--train", "--profile", "batch=8", "--ranks", 2, "--pin", "pp=2,micro-batches=2"]),
}


def index_of(plan):
    """The FlatBuffers index of a plan file (gpucc_rt/PlanFile.h)."""
    offset, size = struct.unpack_from("<QQ", plan, 24)
    return plan[offset:offset + size]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--writer", required=True)
    parser.add_argument("--gpucc", required=True)
    a = parser.parse_args()
    a.folder.mkdir(exist_ok=True)
    subprocess.run([a.writer, a.folder], check=True)
    with tempfile.TemporaryDirectory() as made:
        for model, more in (("mlp", []), ("lenet", []), ("gpt2", ["--layers", "1"])):
            subprocess.run([sys.executable, MAKE_MODELS, made, "--model", model, *more], check=True, capture_output=True)
        for name, (model, options) in PLANS.items():
            plan = pathlib.Path(made) / f"{name}.plan"
            subprocess.run(list(map(str, [a.gpucc, "compile", f"{made}/{model}.onnx", *options, "-o", plan])), check=True,
                           capture_output=True)
            (a.folder / f"{name}.index").write_bytes(index_of(plan.read_bytes()))


if __name__ == "__main__":
    main()
