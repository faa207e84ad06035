"""The official ONNX node tests through compile and run on the host: none may fail."""
import pathlib
import re


def test_node_tests(gpucc):
    import onnx.backend.test
    folder = pathlib.Path(onnx.backend.test.__file__).parent / "data" / "node"
    code, out, err = gpucc("check", "--onnx-tests", folder, "--jobs", 2)
    last = out.strip().splitlines()[-1]
    passed, failed, unsupported = map(int, re.findall(r"\d+", last))
    wrong = [line for line in out.splitlines() if line.startswith("FAIL")]
    assert failed == 0 and code == 0, "\n".join(wrong)
    assert passed >= 1300, last
    reasons = [line for line in out.splitlines() if line.startswith("unsupported")]
    assert len(reasons) == unsupported and all(": " in line for line in reasons)
