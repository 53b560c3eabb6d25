"""What no schema can check in the settings of npf: values that contradict each other."""

from collections.abc import Mapping
from typing import Any

from finitewidth.common.errors import ConfigError
from finitewidth.common.settings import nearest, one_of
from finitewidth.experiments.checks import refuse_rare_snapshots


def check(npf: Mapping[str, Any]) -> None:
    """Refuse settings of npf that contradict each other.

    Raises:
        ConfigError: the message names the key, its value and what is allowed.
    """
    regimes = npf["regimes"]
    networks = regimes["networks"]
    named = {f"npf.regimes.rows.{k}.network": r["network"] for k, r in regimes["rows"].items()}
    named |= {f"npf.{name}.network": npf[name]["network"] for name in ("stages", "cntk")}
    for key, network in named.items():
        if network not in networks:
            raise ConfigError(f"{key}: {network!r} is unknown{nearest(network, networks)}; "
                              + one_of(networks))  # fmt: skip
    network, optimiser = npf["stages"]["network"], npf["stages"]["optimiser"]
    if f"{network}_{optimiser}" not in regimes["rows"]:
        raise ConfigError(
            f"npf.stages.optimiser: {optimiser!r} is refused; the reference are the ReLU networks "
            f"{network}_{optimiser}, which is no row of npf.regimes.rows: "
            f"{', '.join(regimes['rows'])}"
        )
    for name in ("nu", "kvf"):
        refuse_rare_snapshots(f"npf.{name}", npf[name])
    name = "npf.memorisation.widths"
    narrow, wide = (npf["memorisation"]["widths"][key] for key in ("narrow", "wide"))
    if narrow >= wide:
        raise ConfigError(f"{name}.narrow: {narrow} is refused; it must be below "
                          f"{name}.wide, {wide}")  # fmt: skip
    toy = npf["concepts"]["toy"]
    for example in toy["gates"]:
        for gates in example:
            if len(gates) != toy["width"]:
                raise ConfigError(
                    f"npf.concepts.toy.gates: {gates} is refused; every layer needs as many gates "
                    f"as npf.concepts.toy.width, {toy['width']}"
                )
