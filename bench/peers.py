"""The runtimes that gpucc is timed against, one small class each, every one at its best setting.

    peer = PEERS["openvino"](case, threads=2, folder=cache)     reads and compiles; raises Refused with the reason
    outputs = peer.run(arrays)                                  {name: array}
    peer.setting                                                what was chosen, for the table

`case.path` is an ONNX file whose dimensions are all fixed. What takes long to make (IREE's modules) is kept in
`folder`. A new peer is a class here and an entry in PEERS.
"""
import importlib
import importlib.metadata
import os
import pathlib
import subprocess
import sys



class Refused(Exception):
    """The peer is not installed, or does not take this model."""


def needs(module, package):
    """Imports a peer's Python module."""
    try:
        return importlib.import_module(module)
    except ImportError as failure:
        raise Refused(f"not installed (pip install {package}): {failure}") from None


class OnnxRuntime:
    name = "ONNX Runtime"

    def __init__(self, case, threads, folder):
        runtime = needs("onnxruntime", "onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self.session = runtime.InferenceSession(str(case.path), options, providers=["CPUExecutionProvider"])
        self.outputs = [o.name for o in self.session.get_outputs()]
        self.setting = f"{runtime.__version__}: all graph optimizations, sequential, spinning"

    def run(self, arrays):
        return dict(zip(self.outputs, self.session.run(None, arrays)))


class OpenVino:
    name = "OpenVINO"

    def __init__(self, case, threads, folder):
        openvino = needs("openvino", "openvino")
        core = openvino.Core()
        self.model = core.compile_model(core.read_model(str(case.path)), "CPU", {
            "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1,
            "INFERENCE_PRECISION_HINT": "f32"})
        self.request = self.model.create_infer_request()
        self.names = [(case.outputs[i], output) for i, output in enumerate(self.model.outputs)]
        self.setting = f"{openvino.__version__.split('-')[0]}: latency hint, one stream, f32"

    def run(self, arrays):
        results = self.request.infer(arrays, share_inputs=True, share_outputs=True)
        return {name: results[output] for name, output in self.names}


class Iree:
    """Modules of the llvm-cpu backend for this CPU, made by the command line tools of the wheel."""
    name = "IREE"
    FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
             "--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3", "--iree-opt-data-tiling",
             "--iree-llvmcpu-stack-allocation-limit=262144",
             "--iree-preprocessing-pass-pipeline=builtin.module(util.func("
             "iree-preprocessing-convert-conv-to-channels-last))"]

    @staticmethod
    def import_model(case, folder, folded):
        """The model as MLIR; `folded`: after the basic optimizations of ONNX Runtime, which fold constants."""
        needs("iree.compiler", "iree-base-compiler[onnx]")
        path = case.path
        mlir = pathlib.Path(folder) / f"{case.key}{'.folded' * folded}.mlir"
        if not mlir.exists():
            if folded:
                import onnxruntime
                path = mlir.with_suffix(".onnx")
                options = onnxruntime.SessionOptions()
                options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
                options.optimized_model_filepath = str(path)
                options.log_severity_level = 3
                onnxruntime.InferenceSession(str(case.path), options, providers=["CPUExecutionProvider"])
            done = subprocess.run([sys.executable, "-m", "iree.compiler.tools.import_onnx", str(path),
                                   "--opset-version", "21", "-o", str(mlir)], capture_output=True, text=True)
            if done.returncode:
                mlir.unlink(missing_ok=True)
                raise Refused("import: " + last_line(done.stderr))
        return mlir

    @classmethod
    def compile_model(cls, case, folder, run):
        """Makes the module by `run(command)`, which raises Refused; what does not compile as it is gets a second
        chance with its constants folded. Returns the module and what `run` returned."""
        needs("iree.compiler", "iree-base-compiler[onnx]")
        import iree.compiler
        tool = pathlib.Path(iree.compiler.__file__).parent / "_mlir_libs" / "iree-compile"
        module = pathlib.Path(folder) / f"{case.key}.vmfb"
        reasons = []
        for folded in (False, True):
            try:
                mlir = cls.import_model(case, folder, folded)
                return module, run([str(tool), str(mlir), *cls.FLAGS, "-o", str(module)])
            except Refused as refusal:
                module.unlink(missing_ok=True)
                reasons.append(str(refusal))
        raise Refused("; with folded constants: ".join(reasons))

    @staticmethod
    def compile_once(command):
        if not pathlib.Path(command[-1]).exists():
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise Refused("compile: " + first_error(done.stderr))

    def __init__(self, case, threads, folder):
        runtime = needs("iree.runtime", "iree-base-runtime")
        module, _ = self.compile_model(case, folder, self.compile_once)
        version = importlib.metadata.version("iree-base-compiler")
        driver = "local-sync" if threads == 1 else "local-task"
        if threads > 1:
            runtime.flags.parse_flags(f"--task_topology_group_count={threads}", "--task_worker_stack_size=4194304")
        config = runtime.Config(driver)
        mapped = runtime.VmModule.mmap(config.vm_instance, str(module))
        entry = next(n for n in mapped.function_names if not n.endswith("$async") and not n.startswith("__"))
        self.function = runtime.load_vm_module(mapped, config)[entry]
        self.case = case
        self.setting = f"{version}: llvm-cpu, -O3, data tiling, channels last, this CPU, {driver}"

    def run(self, arrays):
        results = self.function(*(arrays[name] for name in self.case.inputs))
        results = results if isinstance(results, (list, tuple)) else [results]
        return {name: value.to_host() for name, value in zip(self.case.outputs, results)}


class Tvm:
    """Relax with its default pipeline: no schedule search, which takes hours a model."""
    name = "TVM"

    def __init__(self, case, threads, folder):
        os.environ["TVM_NUM_THREADS"] = str(threads)
        tvm = needs("tvm", "apache-tvm")
        import onnx
        from tvm import relax
        from tvm.relax.frontend.onnx import from_onnx
        try:
            target = tvm.target.Target({"kind": "llvm", "mcpu": tvm.target.codegen.llvm_get_system_cpu(),
                                        "num-cores": threads})
            module = from_onnx(onnx.load(str(case.path)))
            self.machine = relax.VirtualMachine(tvm.compile(module, target), tvm.cpu())
        except Exception as failure:
            raise Refused(f"{type(failure).__name__}: {last_line(str(failure))}") from None
        self.tensor = tvm.runtime.tensor
        self.case = case
        self.setting = f"{tvm.__version__}: Relax, default CPU pipeline, untuned"

    def run(self, arrays):
        results = self.machine["main"](*(self.tensor(arrays[name]) for name in self.case.inputs))
        results = [results] if hasattr(results, "numpy") else list(results)
        return {name: value.numpy() for name, value in zip(self.case.outputs, results)}


class TorchCompile:
    name = "torch.compile"

    def __init__(self, case, threads, folder):
        torch = needs("torch", "torch")
        sys.path.append(str(pathlib.Path(__file__).parent / "models"))
        import exported
        if case.key not in exported.MAKERS:
            raise Refused("published as ONNX only")
        import torch._inductor.config as config
        torch.set_num_threads(threads)
        config.freezing = True
        self.torch, self.case = torch, case
        module = exported.MAKERS[case.key]()[0]
        self.module = torch.compile(module, mode=os.environ.get("BENCH_TORCH_MODE", "max-autotune-no-cudagraphs"))
        self.setting = f"{torch.__version__}: inductor, frozen, max-autotune"

    def run(self, arrays):
        with self.torch.inference_mode():
            results = self.module(*(self.torch.from_numpy(arrays[name]) for name in self.case.inputs))
        results = [results] if hasattr(results, "numpy") else results
        return {name: value.numpy() for name, value in zip(self.case.outputs, results)}


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no message"


def first_error(text):
    lines = [line for line in text.splitlines() if "error:" in line]
    return lines[0].split("error:", 1)[1].strip()[:200] if lines else last_line(text)


PEERS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino, "iree": Iree, "tvm": Tvm, "torch": TorchCompile}
