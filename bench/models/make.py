"""Makes or fetches the models of the inference claims.

    build/venv/bin/python bench/models/make.py M                    those that need no PyTorch
    build/bench-venv/bin/python bench/models/make.py M --tier torch the rest, seeded weights, 2.3 GB
    ... --model ocr_det                                             one of them

The torch tier needs the packages of requirements.txt, in an environment of its own:
    python3 -m venv build/bench-venv && build/bench-venv/bin/pip install -r bench/models/requirements.txt
A model whose file is there already is kept; --again makes it anew.
"""
import argparse
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import zipfile

import zoo

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RAPIDOCR = "rapidocr-onnxruntime==1.4.4"
OCR_FILES = {"ocr_det": "ch_PP-OCRv4_det_infer.onnx", "ocr_rec": "ch_PP-OCRv4_rec_infer.onnx",
             "ocr_cls": "ch_ppocr_mobile_v2.0_cls_infer.onnx"}


def installed(package, path):
    spec = importlib.util.find_spec(package)
    file = pathlib.Path(spec.origin).parent / path if spec else None
    return file if file and file.is_file() else None


def rapidocr(name, folder):
    """From the installed wheel, or from one that is downloaded (15 MB) and kept beside the models."""
    inside = f"models/{OCR_FILES[name]}"
    target = folder / f"{name}.onnx"
    if path := installed("rapidocr_onnxruntime", inside):
        shutil.copyfile(path, target)
        return
    wheels = folder / "wheels"
    if not list(wheels.glob("rapidocr_onnxruntime-*.whl")):
        subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", str(wheels),
                        RAPIDOCR], check=True)
    with zipfile.ZipFile(next(wheels.glob("rapidocr_onnxruntime-*.whl"))) as wheel:
        target.write_bytes(wheel.read(f"rapidocr_onnxruntime/{inside}"))


def magika(folder):
    path = installed("magika", "models/standard_v3_3/model.onnx")
    if not path:
        sys.exit("magika: the wheel is not installed; pip install magika")
    shutil.copyfile(path, folder / "magika.onnx")


def make(model, folder):
    if model.tier == "torch":
        import exported  # needs PyTorch
        exported.export(model.name, folder)
    elif model.name == "magika":
        magika(folder)
    elif model.tier == "script":
        script = ROOT / "examples" / "models" / "make_models.py"
        subprocess.run([sys.executable, str(script), str(folder), "--model", model.name], check=True,
                       stdout=subprocess.DEVNULL)
    else:
        rapidocr(model.name, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tier", choices=["plain", "torch", "all"], default="plain")
    parser.add_argument("--model", action="append", choices=list(zoo.MODELS), help="which (repeatable)")
    parser.add_argument("--again", action="store_true", help="also those that are there")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for model in zoo.MODELS.values():
        wanted = model.name in args.model if args.model else \
            args.tier == "all" or (args.tier == "torch") == (model.tier == "torch")
        if not wanted:
            continue
        if args.again or not (args.folder / model.file).is_file():
            make(model, args.folder)
        print(args.folder / model.file, flush=True)


if __name__ == "__main__":
    main()
