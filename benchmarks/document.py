"""The page of the documentation about the benchmarks, written from tables of results alone."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from benchmarks import draws, figures, networks, side_by_side, stacked, trained, usage
from benchmarks.cells import (
    duration,
    fraction,
    goal,
    markdown,
    meanings,
    number,
    per_cent,
    prefixed,
    span,
)
from benchmarks.networks import JACOBIAN, NEURAL_TANGENTS, NNGEOMETRY, OURS
from benchmarks.rows import COLUMNS, file_name

TOP = """# Benchmarks

`make benchmarks` measures what this page shows, and writes the page. No number was typed in. The
options of `python benchmarks/page.py` choose other threads, benchmarks, or a GPU (`--device cuda`).
{gpu}

In each round, all ways to do the same work are timed in turn, every other round in the opposite
order. A ratio is the time of the reference over ours: the median over the rounds, and in brackets
both quartiles. With one thread, times are CPU seconds of the process, which other work on the
machine changes little; with several threads and on a GPU they are seconds that pass, and several
threads are measured on an idle machine only. Only ratios are meant to be compared.
The first call of each way is not timed.

The **bound** is the longest of three times that our way needs at least:

- *products*: its operations in matrix products and QR factorisations, as counted while it runs, at
  the rate of a product of large square matrices;
- *memory*: its inputs and parameters read once and its results written once, at the rate of a copy
  of large arrays;
- *random numbers*: those that it draws, at the rate of the generator.

The rates are the best that the same run measured, with the same number of threads. The share is the
bound over our time. It tells how far the time is explained, and how much could still be gained. It
can exceed 100 % where small arrays stay in the cache. *FLOP over ours* is how many operations in
products the reference needs for one of ours. [Performance](performance.md) has the times of whole
runs.
"""
FLOP_RATIO = "FLOP over ours, "
NO_GPU = "\n**The benchmarks have not been run on a GPU yet.** `--device cuda` is untested."
THREADS = (1, 2)  # that a complete table has
MISSING = """**Several threads were not measured here.** The seconds that pass tell nothing while
other work uses the machine. On an idle one `python benchmarks/page.py --threads 2` adds them.
"""
MEANING = {
    draws.NAME: (
        "Kernels of random networks",
        f"""Draws of the tangent kernel of random fully connected networks with one output; the
inputs are as wide as the hidden layers. The samplers draw from the exact law without the matrices
([theory](theory.md), section 2). They are compared with

- *{draws.JACOBIAN}*: networks of the same sizes are drawn, and `jacrev` under `vmap` over networks
  and inputs gives the Jacobian of a torch module and its Gram matrix, in float32;
- *{draws.CLOSED}*: the matrices are drawn, and the kernel is computed in closed form by forward and
  backward products, without autograd and without Jacobians, in float32;
- *{draws.PRODUCTS}*: plain matrix products of the same FLOP as these forward and backward passes,
  by matrices that are there already. They draw nothing and give no kernel, but any method that
  holds the matrices of a network takes longer.""",
    ),
    trained.NAME: (
        "Kernels and the number of inputs",
        f"""Traced kernels of networks with ten outputs; the images of VGG and ResNet have
{trained.SIDE}×{trained.SIDE} pixels. All ways agree to rounding, which is checked before they are
timed. Ours is compared with

- *{trained.BY_INPUT}*: one backward pass for each output and input, and the Gram matrix;
- *{trained.BY_PAIR}*: two backward passes for each output and pair of inputs, which stores no
  Jacobian. This is the scheme of the authors of `collapse` without what their compiler shares. One
  pair is timed, and its time multiplied by the number of pairs.

Convolutions of few channels run far below the rate of large products, so that the backward sweeps
of all inputs take most of the time in the networks with convolutions.""",
    ),
    stacked.NAME: (
        "Stacked training",
        f"""Trainings of ReLU networks for {stacked.STEPS} steps with batches of {stacked.BATCH},
with their initial weights and an evaluation. All replicas of a stack are trained at the same time.
They are compared with

- *{stacked.LOOP}*: the same function, one replica after the other;
- *{stacked.PLAIN}*: modules and optimisers of torch, one network after the other.

Stacking saves the time of calls, not that of products: the operations of a step of one network do
not depend on the number of replicas. The images of the convolutional networks have 8×8
pixels and 3 colours.""",
    ),
}


KERNEL = ["network", "inputs", "kernel"]  # columns that name a kernel
SLOWER_UNCHECKED, SLOWER_CHECKED = 1.1, 1.25  # times that ours may take as long as another way
# docs/howto/kernel.md includes what is between the two lines
START = "<!-- kernels of networks -->"
END = "<!-- end of kernels of networks -->"
NETWORKS = f"""## Kernels of users' networks

Kernels of torch modules with ten outputs, in float32: "traced" is the sum over outputs, "full" the
kernel of all pairs of outputs. Each is computed in a process of its own, all in one run. Times
are seconds that pass, and CPU seconds of all threads, in the fastest of {usage.ROUNDS} calls after
a first one; a call of more than {usage.LONG:.0f} s is the only one. Ways that take less than
{usage.SHORT:g} s have {side_by_side.TURNS} processes, in turn with the others, and as many calls in
each as take that long, since the speed of a machine varies; the fastest counts. The memory is the
largest resident memory, less what was resident before, with the network loaded. All ways agree to
{side_by_side.TOLERANCE:g} of the largest entry, which is checked. Ours are `traced_kernel` and
`full_kernel`; the others are

- *{JACOBIAN}*: the Jacobian of all outputs by `torch.func`, in chunks of the number of inputs
  that was the fastest, and the Gram matrix for each parameter. A Jacobian of more than
  {networks.STORED / 1e9:.0f} GB is computed for some parameters after another;
- *{NNGEOMETRY}*: its `GramMatrix`, the full kernel, if it has all layers of the network;
- *{NEURAL_TANGENTS}*: `empirical_ntk_fn` of the same network in jax, the faster of two
  implementations, without the time for compiling. A network has to be written in jax for it, so
  only those without batch norms and attention are compared.
"""
SYSTEM = """The operating system takes a part of the CPU time, mostly to provide memory (*of it
system*). Where it is large, the ratio depends on the machine and its settings as much as on the
computation. *Share* is the time of our operations in products at the rate of a product of large
square matrices, over our time.

Ours cannot take less than its forward passes, backward sweeps and products of gradients: one pass
of all inputs, one sweep for each output to the outputs of all layers and one for the comparison
with autograd, the passes that show whether a network mixes inputs, reading the graph, the gradient
of two inputs, and bare products of arrays of the same sizes as in our contractions, half of those
that are symmetric. They are measured alone. *At most* is the ratio if ours took no longer than
these. *Check* is the share of our time that `check=False` saves, the median over calls in turn.
"""
RULE = f"""Each row has a rule for ours beside the fastest other way at the same precision: it takes
at most {SLOWER_UNCHECKED - 1:.0%} longer with `check=False` and at most
{SLOWER_CHECKED - 1:.0%} longer with the check, or what it cannot do without (*at most*, with
the check) forbids it. The time without the check is the time with it, less the share that it saves.
"""
FORBIDDEN = """A Jacobian takes the same sweeps, and nearly the same multiplications where a network
is small or its layers have many positions. Where *at most* is below what is asked for, these forbid
it, not what ours does beside them.
"""


def write(
    tables: Sequence[pd.DataFrame],
    folder: Path,
    side_by_sides: Sequence[pd.DataFrame] = (),
    further: Sequence[str] = (),
) -> Path:
    """Draw the figures of all tables and write the page.

    Args:
        tables: rows of `benchmarks.rows`, one table for each machine.
        folder: where the page and the figures are written.
        side_by_sides: rows of `benchmarks.side_by_side`, one table for each machine.
        further: parts of the page that stand after those of ``side_by_sides``.

    Returns:
        The page.
    """
    parts = [NETWORKS] if side_by_sides else []
    for rows in side_by_sides:
        parts += of_networks(rows)
    parts += further
    for rows in tables:
        machine = file_name(rows).removesuffix(".csv")
        parts += section(rows, figures.draw(rows, folder, machine))
    gpu = "" if any(set(rows["device"]) != {"cpu"} for rows in tables) else NO_GPU
    page = folder / "benchmarks.md"
    text = "\n".join([TOP.format(gpu=gpu), *parts])
    page.write_text(text + "\n", encoding="utf-8")
    return page


def section(rows: pd.DataFrame, pictures: dict[str, Path]) -> list[str]:
    """Return the part of the page about one machine."""
    device = rows["device"].iloc[0]
    name = rows["processor"].iloc[0] if device == "cpu" else device
    parts = [
        f"## {name}, {rows['cores'].iloc[0]} cores\n",
        run_facts(rows),
        "### Overview\n",
        markdown(overview(rows)),
    ]
    for benchmark, picture in pictures.items():
        title, text = MEANING[benchmark]
        results = rows[rows["benchmark"] == benchmark]
        parts.append(f"### {title}\n")
        parts.append(text + "\n")
        parts.append(f"![{title}]({picture.name})\n")
        parts.append(findings(results))
        for threads in sorted(set(results["threads"])):
            parts.append(f"With {figures.threads_in_words(threads)}:\n")
            parts.append(markdown(cells(results[results["threads"] == threads])))
    parts += [
        f"All numbers are in `benchmarks/results/{file_name(rows)}`. Its columns:\n",
        meanings(COLUMNS),
    ]
    return parts


def of_networks(rows: pd.DataFrame) -> list[str]:
    """Return what one machine has measured of `benchmarks.networks`."""
    first = rows.iloc[0]
    load = span(rows["load"], "{:.1f}".format)
    rates = span(rows["matmul_flops"].dropna() / 1e9, number)
    dates = " and ".join(dict.fromkeys(rows["date"]))
    commits = " and ".join(dict.fromkeys(rows["commit"]))
    return [
        f"### Networks on {first['processor']}, {first['cores']} cores\n",
        f"Measured with {figures.threads_in_words(first['threads'])} and\n{versions_of(rows)},\n"
        f"on {dates}, at commit {commits}. The load was {load}, and large\n"
        f"products ran at {rates} GFLOP/s.\n",
        START,
        "",
        markdown(in_short(rows)),
        END,
        "",
        SYSTEM,
        markdown(in_full(rows)),
        unreached(rows),
        RULE,
        markdown(beside_the_fastest(rows)),
        f"All numbers are in `benchmarks/results/networks/{file_name(rows)}`. Its columns:\n",
        meanings(side_by_side.COLUMNS),
    ]


def versions_of(rows: pd.DataFrame) -> str:
    """Return all versions of packages that some rows name, each of them once."""
    versions = ", ".join(rows["versions"]).split(", ")
    return ", ".join(dict.fromkeys(versions))


def in_short(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each network and kernel, with time and memory of all ways."""
    lines = []
    for (network, inputs, kernel), ways in rows.groupby(KERNEL, sort=False):
        line = {
            "network": network,
            "parameters": prefixed(ways["parameters"].iloc[0]),
            "inputs": inputs,
            "kernel": kernel,
        }
        for _, row in ways[ways["state"] != side_by_side.ABSENT].iterrows():
            line[row["way"]] = row["state"]
            if row["state"] == side_by_side.MEASURED:
                line[row["way"]] = f"{duration(row['seconds'])}, {prefixed(row['memory'])}B"
        lines.append(line)
    return pd.DataFrame(lines).fillna("–").replace(side_by_side.FAILED, "–")


def in_full(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each network, kernel and way that was measured."""
    lines = []
    for _, row in rows[rows["state"] == side_by_side.MEASURED].iterrows():
        how = f" ({row['how']})" if isinstance(row["how"], str) else ""
        line = {
            "network": row["network"],
            "inputs": row["inputs"],
            "kernel": row["kernel"],
            "way": row["way"] + how,
            "time": duration(row["seconds"]),
            "CPU time": duration(row["cpu_seconds"]),
            "of it system": per_cent(row["system_seconds"] / row["cpu_seconds"]),
            "memory": f"{prefixed(row['memory'])}B",
        }
        line |= cells_of_ours(row) if row["way"] == OURS else cells_of_other(row)
        lines.append(line)
    return pd.DataFrame(lines)


def cells_of_ours(row: pd.Series) -> dict[str, str]:
    """Return the ratios of our way to itself, and the cells that only ours has."""
    return {
        "time over ours": "1",
        "asked": goal(row["asked"]),
        "at most": "",
        "our memory over its": "1",
        "asked of memory": goal(row["asked_memory"]),
        "FLOP": prefixed(row["flops"]),
        "check": per_cent(row["check"]),
        "share": per_cent(row["share"]),
    }


def cells_of_other(row: pd.Series) -> dict[str, str]:
    """Return the ratios of another way to ours, measured and asked for."""
    return {
        "time over ours": number(row["ratio"]),
        "asked": goal(row["asked"]),
        "at most": "" if pd.isna(row["most"]) else number(row["most"]),
        "our memory over its": fraction(row["memory_ratio"]),
        "asked of memory": goal(row["asked_memory"]),
        "FLOP": "",
        "check": "",
        "share": "",
    }


def beside_the_fastest(rows: pd.DataFrame) -> pd.DataFrame:
    """Return for each network and kernel the fastest other way, and whether the rule holds."""
    lines = []
    for (network, inputs, kernel), ways in rows.groupby(KERNEL, sort=False):
        measured = ways[ways["state"] == side_by_side.MEASURED]
        others = measured[measured["way"] != OURS]
        if others.empty:
            continue
        fastest = others.loc[others["seconds"].idxmin()]
        saved = ways.loc[ways["way"] == OURS, "check"].iloc[0]
        checked = fastest["ratio"]
        unchecked = checked / (1 - saved)
        lines.append(
            {
                "network": network,
                "inputs": inputs,
                "kernel": kernel,
                "fastest other way": fastest["way"],
                "its time over ours": number(checked),
                "over ours without the check": number(unchecked),
                "at most": number(fastest["most"]),
                "rule": rule_of(checked, unchecked, fastest["most"]),
            }
        )
    return pd.DataFrame(lines)


def rule_of(checked: float, unchecked: float, most: float) -> str:
    """Say whether the rule holds for ratios of times, and whether the last one forbids it."""
    if unchecked >= 1 / SLOWER_UNCHECKED and checked >= 1 / SLOWER_CHECKED:
        return "holds"
    return "forbidden" if most < 1 / SLOWER_CHECKED else "does not hold"


def unreached(rows: pd.DataFrame) -> str:
    """Say which ratios that are asked for the run has not reached."""
    lines = []
    for _, row in rows.iterrows():
        name = f"- {row['network']}, {row['inputs']} inputs, {row['kernel']}, {row['way']}"
        if row["ratio"] < row["asked"]:
            lines.append(f"{name}: {number(row['ratio'])} times our time{at_most(row)}")
        if row["memory_ratio"] > row["asked_memory"]:
            lines.append(f"{name}: ours takes {fraction(row['memory_ratio'])} of its memory")
    if not lines:
        return "All ratios that are asked for were reached.\n"
    bounded = [FORBIDDEN] if (rows["most"] < rows["asked"]).any() else []
    return "\n".join(["Asked for and not reached:\n", *lines, "", *bounded])


def at_most(row: pd.Series) -> str:
    """Say which ratio our passes and products alone would leave, if it was measured."""
    if pd.isna(row["most"]):
        return ""
    forbidden = ", which forbids what is asked" if row["most"] < row["asked"] else ""
    least = duration(row["seconds"] / row["most"])
    return f"; its passes and products alone take {least} ({number(row['most'])} times){forbidden}"


def run_facts(rows: pd.DataFrame) -> str:
    """Return when and how each benchmark was run, and the rates of the machine at that time."""
    lines = []
    for (benchmark, threads), run in rows.groupby(["benchmark", "threads"], sort=False):
        first = run.iloc[0]
        products = span(run["matmul_flops"] / 1e9, number)
        copy = number(first["copy_bytes"] / 1e9)
        normals = number(first["normals"] / 1e6)
        lines.append(
            {
                "benchmark": benchmark,
                "threads": threads,
                "date": first["date"],
                "commit": first["commit"],
                "rounds": first["rounds"],
                "clock": first["clock"],
                "load": span(run["load"], "{:.1f}".format),
                "products": f"{products} GFLOP/s",
                "copy": f"{copy} GB/s",
                "normal numbers": f"{normals} million/s",
            }
        )
    missing = set(THREADS) - set(rows["threads"])
    busy = f"\n{MISSING}" if missing and set(rows["device"]) == {"cpu"} else ""
    return (
        f"Measured with {versions_of(rows)}.\n"
        "The load is the average number of processes that wanted to run in the minute before\n"
        "a case ended, this run included. Products have the types of the cases,\n"
        "float32 and float64.\n"
        f"{busy}\n{markdown(pd.DataFrame(lines))}"
    )


def overview(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the range of the ratios of each case and reference, and of the shares."""
    lines = []
    for (case, reference), sizes in rows.groupby(["case", "reference"], sort=False):
        line = {"ours": case, "compared with": reference}
        for threads, run in sizes.groupby("threads"):
            line[f"ratio, {figures.threads_in_words(threads)}"] = span(run["ratio"], number)
        for threads, run in sizes.groupby("threads"):
            share = span(run["share_of_bound"], per_cent)
            line[f"share of the bound, {figures.threads_in_words(threads)}"] = share
        line["bound"] = " or ".join(dict.fromkeys(sizes["bound"]))
        lines.append(line)
    return pd.DataFrame(lines).fillna("–")


def findings(rows: pd.DataFrame) -> str:
    """Say how our times grow with each size, from the smallest to the largest."""
    lines = []
    fewest_threads = rows[rows["threads"] == rows["threads"].min()]
    for (case, size), sweep in fewest_threads.groupby(["case", "sweep"], sort=False):
        sweep = sweep.drop_duplicates("value").sort_values("value")
        if len(sweep) < 2:
            continue
        small = sweep.iloc[0]
        large = sweep.iloc[-1]
        growth = number(large["value"] / small["value"])
        longer = number(large["ours_seconds"] / small["ours_seconds"])
        unit = "draw" if small["benchmark"] == draws.NAME else small["unit"]
        lines.append(
            f"- {case}: with {growth} times the {size} ({small['value']:.0f} to "
            f"{large['value']:.0f}), a {unit} takes {longer} times as long."
        )
    return "\n".join([*lines, ""])


def cells(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each case and its sizes, with a column for each reference."""
    lines = []
    for (case, parameters, _), references in rows.groupby(
        ["case", "parameters", "sweep"], sort=False
    ):
        first = references.iloc[0]
        line = {
            "ours": case,
            "sizes": parameters,
            f"time of a {first['unit']}": duration(first["ours_seconds"]),
        }
        for _, row in references.iterrows():
            line |= ratio_cells(row)
        line["FLOP"] = prefixed(first["flops"]) if first["flops"] else "–"
        line["bytes"] = prefixed(first["bytes"])
        line["bound"] = first["bound"]
        line["share"] = per_cent(first["share_of_bound"])
        lines.append(line)
    table = pd.DataFrame(lines)
    after_ratios = ("FLOP", "bytes", "bound", "share")
    order = sorted(table, key=lambda name: (name.startswith(FLOP_RATIO), name in after_ratios))
    return table[order].fillna("–")


def ratio_cells(row: pd.Series) -> dict[str, str]:
    """Return the ratio of the times of a reference, and that of the FLOP if they differ."""
    reference = row["reference"]
    ratio = number(row["ratio"])
    low = number(row["low"])
    high = number(row["high"])
    cells = {reference: f"{ratio} ({low}–{high})"}
    same = row["flops"] == row["reference_flops"] or pd.isna(row["reference_flops"])
    if row["flops"] and not same:
        cells[f"{FLOP_RATIO}{reference}"] = number(row["reference_flops"] / row["flops"])
    return cells
