"""gpucc: run compiled plans from Python.

    import gpucc, numpy as np
    model = gpucc.load("model.plan")
    y = model.run({"x": np.zeros((4, 784), np.float32)})["y"]

A plan for several ranks runs all of them in this process.
"""
from . import _runtime

__all__ = ["Model", "load"]
__version__ = _runtime.version()


class Model:
    """A plan that is ready to run."""

    def __init__(self, path, driver="", threads=0):
        self._plan = _runtime.Plan.open(str(path))
        self._ranks = _runtime.Ranks(self._plan, driver, threads)
        self._written = set()

    def run(self, inputs):
        """One step: a dict of numpy arrays by input name; returns outputs and metrics by name.

        Every input needs an array, unless it was written by `write` (then it keeps that value). The shapes select
        the plan's profile. State (the weights of a training step) stays in the model.
        """
        import numpy as np

        missing = [name for name in self.inputs if name not in inputs and name not in self._written]
        if missing:
            raise ValueError(f"no array for {', '.join(map(repr, missing))}; the model's inputs are "
                             f"{', '.join(f'{name} {dtype}{list(dims)}' for name, (dtype, dims) in self.inputs.items())}: "
                             "give an array for each")
        return self._ranks.run({name: np.ascontiguousarray(x) for name, x in inputs.items()})

    def read(self, name):
        """Any tensor that the plan keeps: outputs, metrics, parameters."""
        return self._ranks.read(name)

    def write(self, name, value):
        """Overwrites an input or a state tensor."""
        import numpy as np

        self._ranks.write(name, np.ascontiguousarray(value))
        self._written.add(name)

    def save_state(self, path):
        """Writes all state to a safetensors file."""
        self._ranks.save_state(str(path))

    def load_state(self, path):
        """Takes the state from a safetensors file that any layout of the model wrote."""
        self._ranks.load_state(str(path))

    def _select(self, *roles):
        return {name: (dtype, dims) for name, role, dtype, dims in self._plan.tensors if role in roles}

    @property
    def inputs(self):
        """name -> (dtype, dims); a dim is a number, or the name of a symbol that the shapes bind."""
        return self._select("input", "label")

    @property
    def outputs(self):
        """name -> (dtype, dims); where a run computes the size, dims has its bound and the array the real one."""
        return self._select("output", "metric")

    @property
    def ranks(self):
        return self._plan.ranks

    @property
    def warnings(self):
        return self._ranks.warnings


def load(path, driver="", threads=0):
    """Opens a plan file and prepares it. driver: "host", "cuda", "null", or "" for the plan's target."""
    return Model(path, driver, threads)
