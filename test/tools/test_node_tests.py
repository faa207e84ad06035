"""The official ONNX node tests through compile and run: on the host all of them, none may fail; through the CUDA source a
sample, and with GPUCC_FULL set all that pass on the host.

CUDA means: every kernel's text compiled by NVRTC for three architectures, and executed on the CPU under the race, bounds and
barrier checks; outputs compared as on the host. The sample is every 50th folder in the order of names.
"""
import json
import os
import pathlib
import re

import pytest

CUDA = "cuda:simt,sm_80,sm_90a,sm_100a"
EVERY = 1 if os.environ.get("GPUCC_FULL") else 50
# Passed on the host, by design not on CUDA: name of the test, reason. There are none.
HOST_ONLY = {}


@pytest.fixture(scope="module")
def folder():
    import onnx.backend.test
    return pathlib.Path(onnx.backend.test.__file__).parent / "data" / "node"


def check(gpucc, folder, table, *options):
    """Verdict and reason of each test."""
    code, out, err = gpucc("check", "--onnx-tests", folder, "--jobs", 2, "--json", table, *options)
    rows = {row["test"]: row for row in json.loads(table.read_text())}
    wrong = [f"{name}: {row['detail']}" for name, row in rows.items() if row["verdict"] == "FAIL"]
    assert not wrong and code == 0, "\n".join(wrong) + err
    assert re.search(r"\d+ passed, 0 failed, \d+ unsupported$", out.strip())
    return rows


def passing(rows):
    return {name for name, row in rows.items() if row["verdict"] == "pass"}


def test_node_tests(gpucc, folder, tmp_path):
    rows = check(gpucc, folder, tmp_path / "host.json")
    refused = [row for row in rows.values() if row["verdict"] == "unsupported"]
    assert len(passing(rows)) + len(refused) == len(rows) == 1765
    assert len(passing(rows)) >= 1500
    assert all(row["detail"] for row in refused)


def test_node_tests_through_the_cuda_source(gpucc, folder, tmp_path):
    sample = tmp_path / "sample"
    sample.mkdir()
    for path in sorted(folder.iterdir())[::EVERY]:
        (sample / path.name).symlink_to(path)
    host = passing(check(gpucc, sample, tmp_path / "host.json"))
    cuda = check(gpucc, sample, tmp_path / "cuda.json", "--target", CUDA)
    print(f"{len(passing(cuda))} of the {len(host)} node tests that pass on the host pass through the CUDA source")
    lost = {name: cuda[name]["detail"] for name in host - passing(cuda) if name not in HOST_ONLY}
    assert not lost, "\n".join(f"{name}: {why}" for name, why in lost.items())
    assert len(host) > 20
