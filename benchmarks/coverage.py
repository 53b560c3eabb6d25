"""How often the intervals of `fw.dispersion`, `fw.trust` and `fw.study` miss the truth.

``python benchmarks/coverage.py`` prints the table of docs/theory.md, section 6. Truths are exact
for ReLU; otherwise they are those of all draws of the table together, which are 200 times as many
as each interval has.
"""

from collections.abc import Callable, Iterator

import numpy as np

import finitewidth as fw
from finitewidth.kernels.ntk_init.estimators import dispersion as bootstrapped
from finitewidth.kernels.ntk_init.tail_errors import NORMAL
from finitewidth.library.dispersion import estimated, log_interval
from finitewidth.library.law_moments import distance_interval
from finitewidth.library.law_trust import ABOVE_MEDIAN, BELOW_MEDIAN, _largest_steps
from finitewidth.library.study_draws import dispersion as of_images

SEEDS = 200
RESAMPLES = 300
Interval = tuple[float, float]
# activation, width, depth, sigma_w2, sigma_b2; |x|^2 is the width
NETWORKS = (
    ("relu", 25, 5, 2.3, 0.5),
    ("relu", 30, 12, 2.0, 0.2),
    ("tanh", 20, 10, 3.0, 0.2),
    ("tanh", 20, 10, 2.0, 0.1),
    ("relu", 50, 15, 3.0, 0.0),
    ("relu", 50, 25, 2.0, 0.0),
    ("tanh", 50, 10, 3.0, 0.2),
)


def table() -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| number | case | draws | seeds | before: below, above | now: below, above | too few |"
    yield "|---|---|---|---|---|---|---|"
    for activation, width, depth, sigma_w2, sigma_b2 in NETWORKS:
        init = fw.constant_width(depth, width, sigma_w2=sigma_w2, sigma_b2=sigma_b2)
        name = f"{activation}, M = {width}, L = {depth}, ({sigma_w2:g}, {sigma_b2:g})"
        for draws in (200, 2000):
            yield from network_lines(name, init, activation, draws)
    yield images_line()
    yield steps_line()


def network_lines(name: str, init, activation: str, draws: int) -> Iterator[str]:
    """Yield the lines of the dispersion and, for tanh, of the other numbers of `fw.trust`."""
    norm2 = float(init.widths[0])
    theta = fw.draw_ntk(
        init, activation=activation, draws=SEEDS * draws, seed=draws, input_norm2=norm2
    ).reshape(SEEDS, draws)
    pooled = theta.ravel() / theta.mean()
    truth = float((pooled**2).mean())
    if activation == "relu":
        truth = fw.ntk_moments(init, input_norm2=norm2).dispersion

    def before(sample: np.ndarray) -> Interval:
        found = bootstrapped(sample, resamples=RESAMPLES)
        error = NORMAL * found.standard_error
        return found.value - error, found.value + error

    def now(sample: np.ndarray) -> Interval:
        found = estimated(sample, resamples=RESAMPLES)
        return found.low, found.high

    yield line("dispersion of draws", name, draws, truth, list(theta), before, now)
    if activation == "relu":
        return
    mean = float(theta.mean())

    def mean_before(sample: np.ndarray) -> Interval:
        error = NORMAL * sample.std(ddof=1) / np.sqrt(draws)
        return sample.mean() - error, sample.mean() + error

    def mean_now(sample: np.ndarray) -> Interval:
        error = sample.std(ddof=1) / np.sqrt(draws)
        return log_interval(sample.mean(), error, error)

    yield line("mean (trust)", name, draws, mean, list(theta), mean_before, mean_now)
    infinite = mean  # stands for the kernel of infinite width

    def distance(sample: np.ndarray) -> Interval:
        squares = (sample - infinite) ** 2
        error = squares.std(ddof=1) / np.sqrt(draws)
        ratio = estimated(sample, resamples=RESAMPLES)
        value = np.sqrt(squares.mean()) / infinite
        return distance_interval(value, squares.mean(), error, ratio)

    apart = float(np.sqrt(((theta - infinite) ** 2).mean()) / infinite)
    yield line("distance (trust)", name, draws, apart, list(theta), None, distance)


def images_line(draws: int = 50, images: int = 6) -> str:
    """Return the line of the mean over images of `fw.study`, at its number of networks."""
    init = fw.constant_width(4, 30, sigma_w2=2.0)
    x = np.random.default_rng(0).standard_normal((images, 30))
    kernels = fw.draw_ntk(init, x, draws=SEEDS * draws, seed=3)
    theta = np.diagonal(kernels, axis1=1, axis2=2).reshape(SEEDS, draws, images)
    truth = float(
        np.mean([fw.ntk_moments(init, input_norm2=float(row @ row)).dispersion for row in x])
    )

    def before(sample: np.ndarray) -> Interval:
        stream = np.random.default_rng(0)
        counts = stream.multinomial(draws, np.full(draws, 1 / draws), RESAMPLES)
        r = draws * (counts @ sample**2) / (counts @ sample) ** 2
        each = draws * (sample**2).sum(0) / sample.sum(0) ** 2
        error = NORMAL * r.mean(1).std(ddof=1)
        return each.mean() - error, each.mean() + error

    def now(sample: np.ndarray) -> Interval:
        found = of_images(sample, 0)
        return found["low"], found["high"]

    name = f"relu, M = 30, L = 4, {images} images"
    return line("dispersion (study)", name, draws, truth, list(theta), before, now)


def steps_line(seeds: int = 100) -> str:
    """Return the line of the largest stable step."""
    init = fw.network([10, 20, 20, 20, 1], sigma_w2=2.0)
    steps = [_largest_steps(8, init, "relu", 1.0, seed)[0] for seed in range(seeds)]
    truth = float(np.median(np.concatenate(steps)))
    return line(
        "largest step",
        "relu, 10-20-20-20-1, S = 8",
        20,
        truth,
        steps,
        None,
        lambda sample: (sample[BELOW_MEDIAN], sample[ABOVE_MEDIAN]),
    )


def line(
    number: str,
    name: str,
    draws: int,
    truth: float,
    samples: list[np.ndarray],
    before: Callable[[np.ndarray], Interval] | None,
    now: Callable[[np.ndarray], Interval],
) -> str:
    """Return one line: how often the truth lies below and above both intervals, in per cent."""
    old = misses(truth, [before(sample) for sample in samples]) if before else "-"
    intervals = [now(sample) for sample in samples]
    few = np.mean([np.isinf(high) for _, high in intervals])
    return (
        f"| {number} | {name} | {draws:,} | {len(samples)} | {old} | {misses(truth, intervals)} | "
        f"{100 * few:.0f} |"
    )


def misses(truth: float, intervals: list[Interval]) -> str:
    """Return the shares of intervals above and below the truth, in per cent."""
    low, high = np.array(intervals).T
    return f"{100 * (truth < low).mean():.1f}, {100 * (truth > high).mean():.1f}"


if __name__ == "__main__":
    for text in table():
        print(text, flush=True)
