"""Made-up or exactly computed rows of every table, for several tests."""

from functools import cache

import pandas as pd
from tests.helpers.measuring import measured

from finitewidth.declarations.papers import artifacts_of, read_papers
from finitewidth.papers.collapse.experiments import block_kernel
from finitewidth.papers.dgn.experiments import concepts as dgn
from finitewidth.papers.dgn.tables import table4
from finitewidth.papers.npf.experiments import concepts as npf
from finitewidth.papers.npf.tables import table2
from finitewidth.settings.presets import preset_only

STAND_INS = {
    "mnist": "digits 8×8 (stand-in for MNIST)",
    "cifar10": "digits on photo patches 16×16 (stand-in for CIFAR-10)",
}
FOOTER = "preset test · 3 runs · pixels averaged 2×2 (gates_only/sweep) · 100 % & more"


# of the networks of dgn that its text names
GATES = {"gates_only": {"beta": 8, "eps": 0.1}, "soft_relu": {"beta": 16, "eps": 0.4}}
TRAINED = {"sweep": 0.95, "gates_only": 0.95}
DATASETS = {"datasets": STAND_INS}
SETTINGS = {
    "npf_table2": DATASETS
    | {"paper": "npf", "beta": 4, "comparable": {"mnist": True, "cifar10": False}},
    "npf0_table2": DATASETS | {"paper": "npf0", "comparable": {"mnist": True, "cifar10": True}},
    "dgn_table4": DATASETS | {"trained": 0.95},
    "npf_extra_cntk": DATASETS,
    "npf_extra_limits": {},
    "dgn_extra_identities": {},
}


Case = tuple[dict[str, pd.DataFrame], dict]  # tables by name, and settings


def cases() -> dict[str, Case]:
    """Name of the artifact -> what its renderer receives."""
    concepts = _concepts()
    return {
        **{artifact: (rows, SETTINGS[artifact]) for artifact, rows in _rows().items()},
        "npf_extra_text": ({"rows": text_numbers("npf")}, DATASETS | shown("npf")),
        "dgn_extra_text": (
            {"rows": text_numbers("dgn")},
            DATASETS | shown("dgn") | {"trained": TRAINED, "gates": GATES},
        ),
        "npf_table3": (concepts["npf"], {}),
        "dgn_table3": (concepts["dgn"], {}),
        "collapse_table1": (concepts["collapse"], {}),
        **_equations(concepts),
    }


def _rows() -> dict[str, dict[str, pd.DataFrame]]:
    """Name of the artifact -> its made-up tables."""
    return {
        "npf_table2": {"rows": accuracies("npf")},
        "npf0_table2": {"rows": accuracies("npf0")},
        "dgn_table4": {"rows": sweep()},
        "npf_extra_cntk": {"rows": cntk()},
        "npf_extra_limits": {"rows": limits()},
        "dgn_extra_identities": {"rows": None, "identities": identities()},
    }


def _equations(concepts: dict[str, dict[str, pd.DataFrame]]) -> dict[str, Case]:
    """The tables of equations of all papers."""
    found = {}
    for artifact in declared():
        if artifact.module.endswith("tables.equations"):
            paper = artifact.paper.removesuffix("0")
            settings = {"artifact": artifact.artifact, "title": artifact.params["title"]}
            found[artifact.artifact] = (concepts[paper], settings)
    return found


def declared():
    """The declarations of all tables that have a renderer."""
    return [a for a in artifacts_of(read_papers()) if a.kind == "table" and a.input]


@cache
def _concepts() -> dict[str, dict[str, pd.DataFrame]]:
    config = preset_only("quick", "config")
    return {
        "npf": measured(npf.measure, {}, config["npf"]["concepts"]),
        "dgn": measured(dgn.measure, {}, config["dgn"]["concepts"]),
        "collapse": measured(block_kernel.measure, {}, config["collapse"]["block_kernel"]),
    }


def accuracies(paper: str) -> pd.DataFrame:
    """Rows of the tables of regimes; with wide and narrow spreads, one run alone, one missing."""
    rows = []
    for number, row in enumerate(table2.ROWS):
        for place, regime in enumerate(table2.REGIMES["npf"]):
            values = {
                "paper": paper,
                "row": row,
                "regime": regime,
                "select": "best_test",
                "runs": 3,
                "diverged": 0,
                "difference": place - 1.25,
                "difference_se": 2.5,
                "reported_runs": 5,
                "trained": 1,
                "train_accuracy_lowest": 99.0,
                "trained_from": 95.0,
            }
            for name in (*table2.OURS, "reported"):
                mean = 90.0 + number + place / 3
                spread = 10.0 ** (place - 3) * 1.17
                values |= {f"{name}_mean": mean, f"{name}_spread": spread}
            rows.append(values)
    rows = pd.DataFrame(rows)
    rows.loc[3, ["runs", "diverged"]] = [1, 2]
    rows.loc[4, "cross_fitted_mean"] = None
    rows.loc[[7, 20], ["trained", "train_accuracy_lowest"]] = [0, 61.5]
    return rows


def sweep() -> pd.DataFrame:
    """Rows of the table of soft gates."""
    networks = [("linear", None, None), ("relu", None, None)]
    for eps in (0.1, 0.4):
        for beta in (1.0, 8.0, 24.0):
            networks.append(("soft_relu", beta, eps))
    rows = pd.DataFrame(networks, columns=["regime", "beta", "eps"])
    rows = rows.assign(
        network=rows["regime"],
        runs=3,
        diverged=0,
        reported_train=0.99,
        reported_test=[0.3939, None, *[0.7] * 6],
        trained=[0.0, *[1.0] * 7],
    )
    for place, column in enumerate(table4.OURS):
        rows[f"{column}_mean"] = 0.7 + place / 30
        rows[f"{column}_spread"] = 0.0011 * 6**place
    return rows


def shown(paper: str) -> dict:
    """What the table of numbers in the text of a paper declares."""
    return next(a.params for a in declared() if a.artifact == f"{paper}_extra_text")


def text_numbers(paper: str) -> pd.DataFrame:
    """Rows of a table of numbers in the text."""
    rows = [number[:3] for number in shown(paper)["numbers"]]
    rows = pd.DataFrame(rows, columns=["quantity", "row", "column"])
    rows = rows.assign(
        mean=9.25,
        spread=12.3,
        runs=3,
        diverged=0,
        select="last",
        reported=56.5,
        place="section 1, evidence II",
        trained=1.0,
    )
    rows.loc[0, ["runs", "diverged", "trained"]] = [1, 2, 0.0]
    return rows


def cntk() -> pd.DataFrame:
    """Rows of the table of the CNTK and of the networks on the same images."""
    kernel = []
    for train, ridge in ((50, 0.1), (4000, 1e-6)):
        kernel.append(
            {
                "kind": "kernel",
                "regime": "cntk",
                "train": train,
                "accuracy": 15.25 + train / 30,
                "standard_error": 1.8,
                "ridge": ridge,
                "condition_number": 4.4e2 * train,
            }
        )
    printed = [{"kind": "printed", "regime": "cntk", "accuracy": 77.43}]
    networks = []
    for regime in table2.REGIMES["npf"]:
        networks.append(
            {
                "kind": "network",
                "regime": regime,
                "train": 4000,
                "runs": 3,
                "accuracy": 70.5,
                "standard_error": 2.32,
                "best_test": 71.0,
                "train_accuracy": 100.0,
                "trained": float(regime != "relu"),
                "train_accuracy_lowest": 78.75,
                "trained_from": 95.0,
            }
        )
    return pd.DataFrame([*kernel, *printed, *networks])


def limits() -> pd.DataFrame:
    """Rows of the table of limits of infinite width."""
    rows = []
    for weights, limit in (("gaussian", "tangent"), ("signed", "signed")):
        for depth in (3, 5):
            rows.append({"weights": weights, "depth": depth, "limit": limit, "expected": 1.0})
            rows.append({"weights": weights, "depth": depth, "limit": "halved", "expected": None})
    return pd.DataFrame(rows).assign(
        output_variance="2/w",
        scale=1.0035,
        scale_error=0.014,
        correlation=0.99659,
        correlation_error=0.00043,
        networks=6,
        width=lambda table: 512 * table["depth"],
    )


def identities() -> pd.DataFrame:
    """Rows of the table of stated means."""
    rows = []
    for name, depth, error in (("D03", 2, 0.0), ("D10", 4, 0.0199), ("D10", 10, 0.123)):
        rows.append(
            {
                "identity": name,
                "case": f"mean kernel, d={depth}",
                "expected": float(depth),
                "value": depth + 0.01,
                "standard_error": error,
                "draws": 5000,
            }
        )
    return pd.DataFrame(rows)
