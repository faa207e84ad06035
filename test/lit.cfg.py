# lit configuration: text in, text out. Run a folder with test/run-lit.sh BUILD FOLDER.
import os
import lit.formats

config.name = "gpucc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.join(config.gpucc_source, "test")
config.test_exec_root = os.path.join(config.gpucc_build, "test")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.gpucc_build, "bin"), config.llvm_tools, os.environ["PATH"]])
for name in ("GPUCC_DATA", "GPUCC_ROUNDTRIP", "GPUCC_VERIFY_NUMERICS", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
