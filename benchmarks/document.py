"""The page of the documentation about the benchmarks, written from tables of results alone."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from benchmarks import draws, figures, networks, side_by_side, stacked, trained, usage
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
        own = rows[rows["benchmark"] == benchmark]
        parts += [f"### {title}\n", text + "\n", f"![{title}]({picture.name})\n", findings(own)]
        for threads in sorted(set(own["threads"])):
            parts += [
                f"With {figures.said(threads)}:\n",
                markdown(cells(own[own["threads"] == threads])),
            ]
    parts += [
        f"All numbers are in `benchmarks/results/{file_name(rows)}`. Its columns:\n",
        meanings(COLUMNS),
    ]
    return parts


def of_networks(rows: pd.DataFrame) -> list[str]:
    """Return what one machine has measured of `benchmarks.networks`."""
    first = rows.iloc[0]
    rates = rows["matmul_flops"].dropna() / 1e9
    load = span(rows["load"], "{:.1f}".format)
    versions = ", ".join(dict.fromkeys(", ".join(rows["versions"]).split(", ")))
    dates, commits = (" and ".join(dict.fromkeys(rows[name])) for name in ("date", "commit"))
    return [
        f"### Networks on {first['processor']}, {first['cores']} cores\n",
        f"Measured with {figures.said(first['threads'])} and\n{versions},\non {dates}, at commit "
        f"{commits}. The load was {load}, and large\nproducts ran at {span(rates, number)} "
        "GFLOP/s.\n",
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


def in_short(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each network and kernel, with time and memory of all ways."""
    found = []
    for (network, inputs, kernel), own in rows.groupby(["network", "inputs", "kernel"], sort=False):
        line = {
            "network": network,
            "parameters": prefixed(own["parameters"].iloc[0]),
            "inputs": inputs,
            "kernel": kernel,
        }
        for _, row in own[own["state"] != side_by_side.ABSENT].iterrows():
            told = f"{duration(row['seconds'])}, {prefixed(row['memory'])}B"
            line[row["way"]] = told if row["state"] == side_by_side.MEASURED else row["state"]
        found.append(line)
    return pd.DataFrame(found).fillna("–").replace(side_by_side.FAILED, "–")


def in_full(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each network, kernel and way that was measured."""
    found = []
    for _, row in rows[rows["state"] == side_by_side.MEASURED].iterrows():
        how = f" ({row['how']})" if isinstance(row["how"], str) else ""
        ours = row["way"] == OURS
        found.append(
            {
                "network": row["network"],
                "inputs": row["inputs"],
                "kernel": row["kernel"],
                "way": row["way"] + how,
                "time": duration(row["seconds"]),
                "CPU time": duration(row["cpu_seconds"]),
                "of it system": per_cent(row["system_seconds"] / row["cpu_seconds"]),
                "memory": f"{prefixed(row['memory'])}B",
                "time over ours": "1" if ours else number(row["ratio"]),
                "asked": wanted(row["asked"]),
                "at most": "" if ours or pd.isna(row["most"]) else number(row["most"]),
                "our memory over its": "1" if ours else part(row["memory_ratio"]),
                "asked of memory": wanted(row["asked_memory"]),
                "FLOP": prefixed(row["flops"]) if ours else "",
                "check": per_cent(row["check"]) if ours else "",
                "share": per_cent(row["share"]) if ours else "",
            }
        )
    return pd.DataFrame(found)


def beside_the_fastest(rows: pd.DataFrame) -> pd.DataFrame:
    """Return for each network and kernel the fastest other way, and whether the rule holds."""
    found = []
    for (network, inputs, kernel), own in rows.groupby(["network", "inputs", "kernel"], sort=False):
        measured = own[own["state"] == side_by_side.MEASURED]
        others = measured[measured["way"] != OURS]
        if others.empty:
            continue
        fastest = others.loc[others["seconds"].idxmin()]
        saved = own.loc[own["way"] == OURS, "check"].iloc[0]
        checked = fastest["ratio"]
        unchecked = checked / (1 - saved)
        holds = unchecked >= 1 / SLOWER_UNCHECKED and checked >= 1 / SLOWER_CHECKED
        forbidden = fastest["most"] < 1 / SLOWER_CHECKED
        found.append(
            {
                "network": network,
                "inputs": inputs,
                "kernel": kernel,
                "fastest other way": fastest["way"],
                "its time over ours": number(checked),
                "over ours without the check": number(unchecked),
                "at most": number(fastest["most"]),
                "rule": "holds" if holds else "forbidden" if forbidden else "does not hold",
            }
        )
    return pd.DataFrame(found)


def unreached(rows: pd.DataFrame) -> str:
    """Say which ratios that are asked for the run has not reached."""
    lines = []
    for _, row in rows.iterrows():
        name = f"- {row['network']}, {row['inputs']} inputs, {row['kernel']}, {row['way']}"
        if row["ratio"] < row["asked"]:
            lines.append(f"{name}: {number(row['ratio'])} times our time{at_most(row)}")
        if row["memory_ratio"] > row["asked_memory"]:
            lines.append(f"{name}: ours takes {part(row['memory_ratio'])} of its memory")
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
    found = []
    for (benchmark, threads), own in rows.groupby(["benchmark", "threads"], sort=False):
        first = own.iloc[0]
        rates = own.drop_duplicates("matmul_flops")["matmul_flops"]
        found.append(
            {
                "benchmark": benchmark,
                "threads": threads,
                "date": first["date"],
                "commit": first["commit"],
                "rounds": first["rounds"],
                "clock": first["clock"],
                "load": span(own["load"], "{:.1f}".format),
                "products": span(rates / 1e9, number) + " GFLOP/s",
                "copy": f"{number(first['copy_bytes'] / 1e9)} GB/s",
                "normal numbers": f"{number(first['normals'] / 1e6)} million/s",
            }
        )
    missing = sorted(set(THREADS) - set(rows["threads"]))
    busy = f"\n{MISSING}" if missing and set(rows["device"]) == {"cpu"} else ""
    versions = ", ".join(dict.fromkeys(", ".join(rows["versions"]).split(", ")))
    return (
        f"Measured with {versions}.\n"
        "The load is the average number of processes that wanted to run in the minute before\n"
        "a case ended, this run included. Products have the types of the cases,\n"
        "float32 and float64.\n"
        f"{busy}\n{markdown(pd.DataFrame(found))}"
    )


def overview(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the range of the ratios of each case and reference, and of the shares."""
    found = []
    for (case, reference), own in rows.groupby(["case", "reference"], sort=False):
        row = {"ours": case, "compared with": reference}
        for threads, some in own.groupby("threads"):
            row[f"ratio, {figures.said(threads)}"] = span(some["ratio"], number)
        for threads, some in own.groupby("threads"):
            row[f"share of the bound, {figures.said(threads)}"] = span(
                some["share_of_bound"], per_cent
            )
        row["bound"] = " or ".join(dict.fromkeys(own["bound"]))
        found.append(row)
    return pd.DataFrame(found).fillna("–")


def findings(rows: pd.DataFrame) -> str:
    """Say how our times grow with each size, from the smallest to the largest."""
    lines = []
    own = rows[rows["threads"] == rows["threads"].min()]
    for (case, size), some in own.groupby(["case", "sweep"], sort=False):
        some = some.drop_duplicates("value").sort_values("value")
        if len(some) < 2:
            continue
        small = some.iloc[0]
        large = some.iloc[-1]
        unit = "draw" if small["benchmark"] == draws.NAME else small["unit"]
        lines.append(
            f"- {case}: with {number(large['value'] / small['value'])} times the {size} "
            f"({small['value']:.0f} to {large['value']:.0f}), a {unit} takes "
            f"{number(large['ours_seconds'] / small['ours_seconds'])} times as long."
        )
    return "\n".join([*lines, ""])


def cells(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each case and its sizes, with a column for each reference."""
    found = []
    for (case, parameters, _), own in rows.groupby(["case", "parameters", "sweep"], sort=False):
        first = own.iloc[0]
        row = {
            "ours": case,
            "sizes": parameters,
            f"time of a {first['unit']}": duration(first["ours_seconds"]),
        }
        for _, one in own.iterrows():
            ratio, low, high = (number(one[name]) for name in ("ratio", "low", "high"))
            row[one["reference"]] = f"{ratio} ({low}–{high})"
            same = one["flops"] == one["reference_flops"] or pd.isna(one["reference_flops"])
            if one["flops"] and not same:
                row[f"{FLOP_RATIO}{one['reference']}"] = number(
                    one["reference_flops"] / one["flops"]
                )
        row["FLOP"] = prefixed(first["flops"]) if first["flops"] else "–"
        row["bytes"] = prefixed(first["bytes"])
        row["bound"] = first["bound"]
        row["share"] = per_cent(first["share_of_bound"])
        found.append(row)
    table = pd.DataFrame(found)
    places = ("FLOP", "bytes", "bound", "share")  # after the references
    order = sorted(table, key=lambda name: (name.startswith(FLOP_RATIO), name in places))
    return table[order].fillna("–")


def meanings(columns: dict[str, str]) -> str:
    return markdown(pd.DataFrame({"column": columns.keys(), "meaning": columns.values()}))


def markdown(table: pd.DataFrame) -> str:
    return table.to_markdown(index=False, disable_numparse=True) + "\n"


def wanted(ratio: float) -> str:
    if pd.isna(ratio):
        return ""
    return f"≥ {number(ratio)}" if ratio >= 1 else f"≤ {part(ratio)}"


def part(ratio: float) -> str:
    """Return a ratio below one as a fraction."""
    return number(ratio) if ratio >= 1 else f"1/{number(1 / max(ratio, 1e-9))}"


def span(values: pd.Series, said: object) -> str:
    low = said(values.min())
    high = said(values.max())
    return low if low == high else f"{low} to {high}"


def number(value: float) -> str:
    """Return three digits, without exponents."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def per_cent(value: float) -> str:
    return f"{100 * value:.2g} %" if value < 0.995 else f"{100 * value:.0f} %"


def prefixed(value: float) -> str:
    """Return three digits, in thousands, millions or billions (k, M, G)."""
    for prefix, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {prefix}"
    return f"{value:.3g}"


def duration(seconds: float) -> str:
    """Return seconds with three digits and a prefix."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
