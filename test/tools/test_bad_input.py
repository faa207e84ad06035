"""Broken models, plans, arrays, machine files and command lines: exit code 2, and a message with place, found, allowed,
remedy.

Each row of the tables is one hand-made broken input (those of models are in broken_models.py). The four words are looked
for apart, so that a message which loses its remedy fails here.
"""
import io
import struct
import zipfile
from typing import Callable, NamedTuple

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import broken_models
from broken_models import external, model, node, stored as weight, tensor



class Bench:
    """What a row may use: a folder of its own, models, a good plan."""

    def __init__(self, folder, models, plan):
        self.folder, self.models, self.plan = folder, models, plan

    def onnx(self, made):
        path = self.folder / "m.onnx"
        (self.folder / "data.bin").write_bytes(bytes(16))
        path.write_bytes(made if isinstance(made, bytes) else made.SerializeToString())
        return ["compile", path]

    def patched(self, change, command="run"):
        data = bytearray(self.plan.read_bytes())
        data = change(data) or data
        path = self.folder / "bad.plan"
        path.write_bytes(data)
        return [command, path]

    def arrays(self, data):
        path = self.folder / "in.npz"
        path.write_bytes(data)
        return ["run", self.plan, "--inputs", path, "--outputs", self.folder / "out.npz"]

    def machine(self, old="", new="", text=None):
        path = self.folder / "m.yaml"
        path.write_text(MACHINE.replace(old, new) if text is None else text)
        assert text is not None or old in MACHINE
        return ["compile", self.models / "mlp.onnx", "--train", "--loss", "mse", "--profile", "batch=8",
                "--machine", path, "-o", self.folder / "m.plan"]

    def mlp(self, *more, command="compile"):
        return [command, self.models / "mlp.onnx", *more]

    def train(self, *more):
        return self.mlp("--train", "--loss", "mse", "--profile", "batch=8", *more)


MACHINE = """name: two
device:
  kind: small
  memory: 8 GB
  memory-bandwidth: 400 GB/s
  multiprocessors: 20
  peak: {f32: 10 TFLOP/s}
node: {devices: 2}
links:
  intra: {kind: pcie, bandwidth: 16 GB/s, latency: 10 us}
"""


def put(at, data):
    def change(plan):
        plan[at:at + len(data)] = data
    return change


def u64(value):
    return struct.pack("<Q", value)


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def npy(descr="<f4", shape="(1, 16)", data=bytes(64), header=None):
    """An archive with the array x, from the text of its header."""
    header = (header or f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}").encode() + b"\n"
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)
    return stream.getvalue()


X = np.ones((1, 16), np.float32)  # what the good plan takes


class Row(NamedTuple):
    kind: str
    make: Callable
    place: str
    found: str
    allowed: str
    remedy: str


def broken(*nodes, **more):
    return lambda b: b.onnx(model(list(nodes), **more))


def weighted(w):
    return lambda b: b.onnx(model([node("Add", "xw")], [w]))


ROWS = {
    # ONNX files
    "not protobuf": Row("onnx", lambda b: b.onnx(b"PK\x03\x04 zip"),
                        "m.onnx:", "not a protobuf message from byte 3 on", "ONNX model", "export or download it again"),
    "cut short": Row("onnx", lambda b: b.onnx((b.models / "mlp.onnx").read_bytes()[:1000]),
                     "m.onnx:", "the file is cut short", "ONNX model", "export or download it again"),
    "old ir": Row("onnx", broken(node("Relu", "x"), ir=2),
                  "m.onnx:", "has IR version 2", "3 and newer are read", "convert it with onnx.version_converter"),
    "dangling name": Row("onnx", broken(node("Relu", ["nowhere"])),
                         "node 'broken' (Relu)", "reads 'nowhere'", "node, input or initializer", "correct the name or add"),
    "cycle": Row("onnx", broken(node("Add", ["x", "b"], ["a"]), node("Relu", "a", "b"), node("Relu", "x")),
                 "through node 'broken'", "has a cycle", "a graph must be acyclic", "use Loop for iteration"),
    "axis": Row("onnx", broken(node("Softmax", "x", axis=5)),
                "node 'broken' (Softmax, opset 17)", "axis 5", "[-2, 1]", "correct node 'broken' (Softmax)"),
    "shapes": Row("onnx", broken(node("MatMul", "xz"), inputs=[tensor("x", (2, 3)), tensor("z", (4, 5))]),
                  "broken (MatMul)", "has size 3, its partner, rhs dimension 0, has 4", "paired dimensions have equal sizes",
                  "correct node 'broken' (MatMul) or what feeds it"),
    "recurrent bias": Row("onnx", broken(node("RNN", "xwrb", hidden_size=5), inputs=[tensor("x", (1, 3, 2)), tensor("w", (1, 5, 2)),
                                                                                 tensor("r", (1, 5, 5)), tensor("b", ())]),
                          "broken", "operand 3 has 0 dimensions", "B and P have 2", "correct node 'broken' (RNN)"),
    "short weight": Row("onnx", weighted(weight(raw_data=b"0" * 12)),
                        "initializer 'w'", "has 12 bytes", "its dims and type take 16", "correct one of them"),
    "negative dim": Row("onnx", weighted(weight((-4,))),
                        "initializer 'w'", "negative dimension -4", "sizes are 0 or more", "correct its dims"),
    "weights outside": Row("onnx", weighted(external(("location", "../secret"))),
                           "initializer 'w'", "'../secret'", "leads out of the model's folder", "put the file beside the model"),
    "weights missing": Row("onnx", weighted(external(("location", "nothing.bin"))),
                           "initializer 'w'", "'nothing.bin'", "does not exist in", "copy it there"),
    # plans
    "no plan": Row("plan", lambda b: ["train", __file__, "--data", __file__, "--steps", 1, "--save", b.folder],
                   "test_bad_input.py", "is no plan", "--train", "make one: gpucc compile MODEL"),
    "plan cut": Row("plan", lambda b: b.patched(lambda d: d[:200]),
                    "bad.plan:", "has 200 bytes", "its header says", "copy it again or compile the model again"),
    "plan version": Row("plan", lambda b: b.patched(put(8, struct.pack("<I", 999))),
                        "bad.plan:", "plan format 999", "reads format 1", "recompile the model"),
    "plan header": Row("plan", lambda b: b.patched(put(24, b"\xff" * 8)),
                       "bad.plan:", "damaged header: index at", "do not fit into", "compile the model again"),
    "plan index": Row("plan", lambda b: b.patched(put(100, b"\xff")),
                      "bad.plan:", "the plan is damaged", "the hash in the header", "compile the model again"),
    "plan empty": Row("plan", lambda b: b.patched(lambda d: d[:8]),
                      "bad.plan:", "8 bytes", "the header alone has 64", "compile the model again"),
    "plan shown": Row("plan", lambda b: b.patched(put(100, b"\xff"), "show"),
                      "bad.plan:", "the plan is damaged", "the hash in the header", "compile the model again"),
    "plan for one rank": Row("plan", lambda b: ["run", b.plan, "--ranks", 2],
                             "--ranks 2", "--ranks 2", "was made for 1 rank;", "compile the model again with --ranks 2"),
    **{f"plan of {n} bytes": Row("plan", lambda b, n=n: b.patched(lambda d: d[:n]),
                                "bad.plan:", f"has {n} bytes", "its header says", "copy it again or compile")
       for n in (64, 4000, 16384)},
    "plan without its end": Row("plan", lambda b: b.patched(lambda d: d[:-1]),
                                "bad.plan:", "the plan has", "its header says", "copy it again or compile"),
    "plan with more": Row("plan", lambda b: b.patched(lambda d: d + b"\0"),
                          "bad.plan:", "the plan has", "its header says", "copy it again or compile"),
    "plan of 63 bytes": Row("plan", lambda b: b.patched(lambda d: d[:63]),
                            "bad.plan:", "63 bytes", "the header alone has 64", "compile the model again"),
    "plan format 0": Row("plan", lambda b: b.patched(put(8, struct.pack("<I", 0))),
                         "bad.plan:", "plan format 0", "reads format 1", "recompile the model"),
    "plan of a newer runtime": Row("plan", lambda b: b.patched(put(16, struct.pack("<I", 7))),
                                   "bad.plan:", "format 1.7 or later", "this one is 1.1", "update the runtime"),
    "plan index elsewhere": Row("plan", lambda b: b.patched(put(24, u64(128))),
                                "bad.plan:", "index at 128", "do not fit into", "compile the model again"),
    "plan index huge": Row("plan", lambda b: b.patched(put(32, u64(1 << 62))),
                           "bad.plan:", "of 4611686018427387904 bytes", "do not fit into", "compile the model again"),
    "plan index empty": Row("plan", lambda b: b.patched(put(32, u64(0))),
                            "bad.plan:", "the plan is damaged", "the hash in the header", "compile the model again"),
    "plan blobs unaligned": Row("plan", lambda b: b.patched(put(40, u64(100))),
                                "bad.plan:", "blobs at 100", "do not fit into", "compile the model again"),
    "plan blobs outside": Row("plan", lambda b: b.patched(put(40, u64(1 << 40))),
                              "bad.plan:", "blobs at 1099511627776", "do not fit into", "compile the model again"),
    "plan size": Row("plan", lambda b: b.patched(put(48, u64(1))),
                     "bad.plan:", "the plan has", "its header says 1", "copy it again or compile"),
    "plan hash": Row("plan", lambda b: b.patched(put(56, u64(0))),
                     "bad.plan:", "the plan is damaged", "the hash in the header", "compile the model again"),
    # arrays
    "arrays empty": Row("arrays", lambda b: b.arrays(b""),
                        "in.npz", "not a zip archive: 0 bytes", "an .npz file is one", "write it with numpy.savez"),
    "arrays text": Row("arrays", lambda b: b.arrays(b"hello"),
                       "in.npz", "not a zip archive: 5 bytes", "an .npz file is one", "write it with numpy.savez"),
    "arrays cut": Row("arrays", lambda b: b.arrays(npz(x=X)[:-10]),
                      "in.npz", "no directory at its end", "an .npz file is one", "write it again"),
    "arrays half": Row("arrays", lambda b: b.arrays(npz(x=X)[:150]),
                       "in.npz", "no directory at its end", "an .npz file is one", "write it again"),
    "arrays damaged": Row("arrays", lambda b: b.arrays(npy().replace(b"NUMPY", b"NUMPX")),
                          "member 'x.npy'", "does not have its checksum", "is damaged", "copy it again"),
    "arrays unknown": Row("arrays", lambda b: b.arrays(npz(x=X, zz=X)),
                          "the plan", "no tensor 'zz'", "it has x, y", "correct the name or leave it out"),
    "arrays shape": Row("arrays", lambda b: b.arrays(npz(x=X[:, :3])),
                        "input 'x'", "f32 [1, 3]", "expected f32 [1, 16]", "change the inputs, or recompile"),
    "arrays rank": Row("arrays", lambda b: b.arrays(npz(x=np.float32(1))),
                       "input 'x'", "f32 []", "expected f32 [1, 16]", "change the inputs, or recompile"),
    **{f"arrays of {descr}": Row("arrays", lambda b, d=descr: b.arrays(npy(d, data=bytes(640))),
                                 "in.npz: 'x'", f"element type '{descr}'", "allowed are", "convert it with astype")
       for descr in ("<c8", "|O", ">f4", "<U1")},
    "arrays short": Row("arrays", lambda b: b.arrays(npy(data=bytes(8))),
                        "in.npz: 'x'", "8 found", "64 bytes of data expected", "write it again with numpy.save"),
    "arrays huge": Row("arrays", lambda b: b.arrays(npy(shape="(4611686018427387904, 4)")),
                       "in.npz: 'x'", "too many elements", "at most 2^47 elements", "correct its shape"),
    "arrays negative": Row("arrays", lambda b: b.arrays(npy(shape="(-1, 16)")),
                           "in.npz: 'x'", "a negative dimension", "sizes are 0 or more", "write it with numpy.save"),
    "arrays header": Row("arrays", lambda b: b.arrays(npy(header="nonsense")),
                         "in.npz: 'x'", "without a plain 'descr'", "structured arrays cannot be read", "write it with numpy.save"),
    # machines
    "machine key": Row("machine", lambda b: b.machine("memory:", "memroy:"),
                       "m.yaml:4: device.memroy", "an unknown key", "memory, memory-bandwidth, multiprocessors,", "correct or remove the key"),
    "machine unit": Row("machine", lambda b: b.machine("8 GB", "8"),
                        "m.yaml:4: device.memory", "found '8'", "a size with a unit", "write e.g. 80 GB"),
    "machine negative": Row("machine", lambda b: b.machine("400 GB/s", "-400 GB/s"),
                            "m.yaml:5: device.memory-bandwidth", "'-400 GB/s'", "of at least 0", "write e.g. 450 GB/s"),
    "machine missing": Row("machine", lambda b: b.machine("  multiprocessors: 20\n", ""),
                           "m.yaml:3: device.multiprocessors", "found nothing", "allowed a number", "add the key"),
    "machine type": Row("machine", lambda b: b.machine("f32: 10", "f33: 10"),
                        "m.yaml:7: device.peak.f33", "an unknown type", "allowed f64, f32,", "correct the type's name"),
    "machine peak": Row("machine", lambda b: b.machine("{f32: 10 TFLOP/s}", "{}"),
                        "m.yaml:7: device.peak", "found no rate", "at least f32", "write e.g. peak: {f32: 10 TFLOP/s}"),
    "machine devices": Row("machine", lambda b: b.machine("devices: 2", "devices: 0"),
                           "m.yaml:8: node.devices", "found '0'", "of at least 1", "write e.g. 1"),
    "machine links": Row("machine", lambda b: b.machine(MACHINE[MACHINE.index("links:"):], ""),
                         "m.yaml:1: links", "found nothing", "allowed a mapping", "add the key links"),
    "machine yaml": Row("machine", lambda b: b.machine(text="name: [a\ndevice: }"),
                        "m.yaml:2:", "text that is not YAML", "a YAML mapping", "check indentation and brackets"),
    "machine list": Row("machine", lambda b: b.machine(text="- a\n- b\n"),
                        "m.yaml:1:", "found no mapping", "a machine description", "start from a built-in one"),
    "machine name": Row("machine", lambda b: b.train("--machine", "h900"),
                        "--machine", "found 'h900'", "allowed a machine.yaml or one of", "e.g. h100-8x4"),
    # command lines
    "target": Row("cli", lambda b: b.mlp("--target", "cuda:sm_1"),
                  "--target", "architecture 'sm_1'", "is none of sm_75", "choose"),
    "target kind": Row("cli", lambda b: b.mlp("--target", "tpu"),
                       "--target", "'tpu'", "is none of: host", "as cuda:sm_80,sm_90a"),
    "target twice": Row("cli", lambda b: b.mlp("--target", "cuda:sm_80,sm_80"),
                        "--target", "names 'sm_80' twice", "is allowed once", "remove one"),
    "pin": Row("cli", lambda b: b.mlp("--pin", "color=red"), "--pin", "'color=red'", "is none of: dp=N", "choose"),
    "pin value": Row("cli", lambda b: b.mlp("--pin", "dp=0"), "--pin", "'dp=0'", "a number from 1 to", "choose"),
    "pin twice": Row("cli", lambda b: b.mlp("--pin", "dp=1,dp=2"),
                     "--pin", "dp was fixed already", "is allowed once", "remove one"),
    "profile": Row("cli", lambda b: b.mlp("--profile", "batch"),
                   "--profile", "'batch'", "NAME=SIZE,NAME=SIZE", "write e.g. batch=8"),
    "profile size": Row("cli", lambda b: b.mlp("--profile", "batch=99999999999999999999"),
                        "--profile", "'batch=99999999999999999999'", "at most 2^40", "choose a smaller size"),
    "profile symbol": Row("cli", lambda b: b.mlp("--profile", "bitch=8"),
                          "profile 'p0'", "a size to bitch", "its symbolic dimensions", "--profile batch=1"),
    "dimension twice": Row("cli", lambda b: b.mlp("--profile", "batch=8,batch=9"),
                           "--profile", "gives batch twice", "each dimension has one size", "remove one"),
    "profile twice": Row("cli", lambda b: b.mlp("--profile", "batch=8", "--profile", "batch=8"),
                         "--profile", "'batch=8' is given twice", "is allowed once", "remove one"),
    "phase": Row("cli", lambda b: b.mlp("--compile-to", "nirvana"),
                 "--compile-to", "'nirvana'", "is none of: frontend graph", "choose"),
    "loss": Row("cli", lambda b: b.mlp("--train", "--loss", "hinge"),
                "--loss", "found 'hinge'", "cross-entropy, mse, output:NAME and output-sum:NAME", "choose one"),
    "loss of nothing": Row("cli", lambda b: b.mlp("--train", "--loss", "output:"),
                           "--loss", "found 'output:'", "output:NAME", "write the name of a model output"),
    "loss output": Row("cli", lambda b: b.mlp("--train", "--loss", "output:nothing"),
                       "the loss", "'nothing'", "the model's outputs are: y", "choose"),
    "schedule": Row("cli", lambda b: b.train("--lr-schedule", "zigzag"),
                    "schedule", "'zigzag'", "is none of: constant", "warmup:STEPS"),
    "freeze": Row("cli", lambda b: b.train("--freeze", "no.such.*"),
                  "--freeze", "'no.such.*'", "names are those of its initializers", "gpucc show MODEL lists them"),
    "micro-batches": Row("cli", lambda b: b.train("--pin", "micro-batches=3"),
                         "micro-batches", "a batch of 8", "N a multiple of 3", "choose --profile batch=N"),
    "lr without train": Row("cli", lambda b: b.mlp("--lr", "1"), "--lr", "--lr", "belongs to training", "add --train"),
    "negative lr": Row("cli", lambda b: b.train("--lr", "-1"),
                       "--lr", "found -1", "a finite number of at least 0", "give e.g. --lr 1e-3"),
    "nan lr": Row("cli", lambda b: b.train("--lr", "nan"),
                  "--lr", "found nan", "a finite number of at least 0", "give e.g. --lr 1e-3"),
    "momentum": Row("cli", lambda b: b.train("--momentum", "-0.5"),
                    "--momentum", "found -0.5", "of at least 0", "give e.g. --momentum 0.9"),
    "momentum of adamw": Row("cli", lambda b: b.train("--optimizer", "adamw", "--momentum", "0.5"),
                             "--momentum", "found with --optimizer adamw", "allowed with sgd", "leave it out"),
    "budget word": Row("cli", lambda b: b.mlp("--memory-budget", "much"),
                       "--memory-budget", "'much'", "bytes (4096, 300MB, 12GiB)", "a ratio greater than 0"),
    "budget of nothing": Row("cli", lambda b: b.mlp("--memory-budget", "0"),
                             "--memory-budget", "found '0'", "at least 64 bytes", "write a unit"),
    "ratio above one": Row("cli", lambda b: b.train("--memory-budget", "activations=2"),
                           "--memory-budget", "found 'activations=2'", "a ratio up to 1.0", "with a point (0.5)"),
    "no architecture": Row("cli", lambda b: b.mlp("--target", "cuda:"),
                           "--target", "'cuda:' names no architecture", "one or more are allowed", "write cuda:sm_90a"),
    "positions": Row("onnx", lambda b: b.onnx(model([node("Gather", "wi")], [
                         numpy_helper.from_array(np.ones((4, 2), np.float32), "w"),
                         numpy_helper.from_array(np.arange(6), "i")])),
                     "Gather", "index 4", "allowed are -4 to 3", "choose a smaller --profile"),
    "clip": Row("cli", lambda b: b.train("--clip-norm", "-1"),
                "--clip-norm", "found -1", "of at least 0", "0 for no clipping"),
    "no samples": Row("cli", lambda b: b.mlp("--train", "--loss", "mse", "--profile", "batch=0"),
                      "--profile", "'batch=0' has no samples", "sizes of at least 1", "choose another batch"),
    "two profiles train": Row("cli", lambda b: b.train("--profile", "batch=16"),
                              "--profile", "found 2 profiles", "is compiled for one", "make a plan for each"),
    "two profiles check": Row("cli", lambda b: b.mlp("--profile", "batch=1", "--profile", "batch=2", command="check"),
                              "--profile", "found 2 profiles", "one comparison takes one", "call gpucc check once for each"),
    "ranks": Row("cli", lambda b: b.mlp("--ranks", "3", "--pin", "dp=2,tp=2"),
                 "--pin dp=2,tp=2", "--ranks is 3", "needs 4 ranks", "a multiple"),
    "driver of another target": Row("cli", lambda b: ["run", b.plan, "--driver", "cuda"],
                                    "good.plan", "the plan is for target host", "the cuda driver runs cuda plans", "use the host driver"),
    "seed": Row("cli", lambda b: b.mlp("--inputs", "random:x", command="run"),
                "--inputs", "'random:x'", "comes a number", "as random:7"),
    "flags on a plan": Row("cli", lambda b: ["run", b.plan, "--precision", "bf16"],
                           "--precision", "found a plan", "allowed with a model", "leave the option out"),
}

for table in broken_models.TABLES:
    assert not set(table) & set(ROWS)
    ROWS.update({name: Row("onnx", lambda b, m=m: b.onnx(m.made), *m[1:]) for name, m in table.items()})


@pytest.fixture(scope="session")
def plan(gpucc, models, tmp_path_factory):
    path = tmp_path_factory.mktemp("plan") / "good.plan"
    gpucc.ok("compile", models / "mlp.onnx", "-o", path)
    return path


@pytest.mark.parametrize("name", ROWS)
def test_refused_with_place_found_allowed_remedy(gpucc, models, plan, tmp_path, name):
    row = ROWS[name]
    code, _, err = gpucc(*row.make(Bench(tmp_path, models, plan)))
    assert code == 2, f"exit code {code}\n{err}"
    for part in ("place", "found", "allowed", "remedy"):
        words = getattr(row, part)
        assert words and words in err, f"{part} '{words}' is not in:\n{err}"


def test_there_are_enough_of_each_kind():
    kinds = ("onnx", "plan", "arrays", "machine", "cli")
    count = {kind: sum(row.kind == kind for row in ROWS.values()) for kind in kinds}
    print(f"{len(ROWS)} broken inputs: {count}")
    assert len(ROWS) == sum(count.values()) >= 200 and all(n >= 9 for n in count.values()), count


@pytest.mark.parametrize("name", broken_models.UNSUPPORTED)
def test_unsupported_names_nodes_versions_and_reasons(gpucc, tmp_path, name):
    made, words = broken_models.UNSUPPORTED[name]
    code, _, err = gpucc(*Bench(tmp_path, None, None).onnx(made))
    assert code == 3, f"exit code {code}\n{err}"
    for word in ["cannot compile", *words]:
        assert word in err, f"'{word}' is not in:\n{err}"


def test_what_the_rows_break_was_whole(gpucc, models, plan, tmp_path):
    """Unbroken, the same inputs are accepted: the refusals are not those of the test's own making."""
    bench = Bench(tmp_path, models, plan)
    gpucc.ok(*bench.onnx(model([node("Softmax", "x", axis=1)])), "-o", tmp_path / "m.plan")
    gpucc.ok(*bench.onnx(model([node("Add", "xw")], [numpy_helper.from_array(np.ones(4, np.float32), "w")])), "-o",
             tmp_path / "m.plan")
    gpucc.ok(*bench.patched(lambda d: d))
    gpucc.ok(*bench.machine())
    gpucc.ok(*bench.train("--lr", "0.1", "--momentum", "0.9", "--clip-norm", "1", "-o", tmp_path / "m.plan"))
