"""The same input gives the same bytes, from any folder and with any number of jobs."""


def test_equal_bytes(gpucc, models, tmp_path):
    other = tmp_path / "elsewhere"
    other.mkdir()
    for target in ("host", "cuda:sm_90a"):
        plans = []
        for i, (cwd, jobs) in enumerate(((tmp_path, 1), (other, 2), (tmp_path, 2))):
            plan = tmp_path / f"{i}.plan"
            gpucc.ok("compile", models / "gpt2.onnx", "--profile", "batch=1,seq=16", "--target",
                     target, "--jobs", jobs, "-o", plan, cwd=cwd)
            plans.append(plan.read_bytes())
        assert plans[0] == plans[1] == plans[2], target


def test_equal_bytes_of_a_parallel_training_plan(gpucc, models, tmp_path):
    plans = []
    for i in range(2):
        plan = tmp_path / f"{i}.plan"
        gpucc.ok("compile", models / "mlp.onnx", "--train", "--loss", "mse", "--profile", "batch=8",
                 "--ranks", 4, "--pin", "dp=2,tp=2", "--jobs", i + 1, "-o", plan)
        plans.append(plan.read_bytes())
    assert plans[0] == plans[1]
