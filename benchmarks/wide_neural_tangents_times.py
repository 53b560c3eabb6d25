"""A kernel of infinite width by neural-tangents, timed in the environment of neural_tangents.txt.

wide_times.py writes a task, starts this file with it, and reads the result.
"""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

TASK = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
sys.path.insert(0, str(Path(__file__).parents[1]))
# XLA starts a thread for each core that the process may use
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: TASK["threads"]])

import jax  # noqa: E402
import numpy as np  # noqa: E402
from benchmarks.usage import usage_of  # noqa: E402
from benchmarks.wide_neural_tangents import chain  # noqa: E402


def main() -> None:
    x = np.random.default_rng(0).standard_normal((TASK["inputs"], *TASK["shape"]))
    if x.ndim == 4:
        x = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    *_, kernel_of = chain(TASK["steps"], TASK["sigma_w2"] ** 0.5, TASK["sigma_b2"] ** 0.5)
    given = jax.device_put(x)
    compiled = jax.jit(lambda x: kernel_of(x, None, "ntk")).lower(given).compile()
    kernel, usage = usage_of(lambda: compiled(given).block_until_ready())
    np.savez(TASK["result"], values=np.asarray(kernel), **asdict(usage))


if __name__ == "__main__":
    main()
