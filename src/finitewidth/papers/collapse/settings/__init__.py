"""Settings of collapse: type, range, meaning and source. Imports no torch."""

from pydantic import model_validator

from finitewidth.papers.collapse.settings.decay import Decay, Lengths, Sweeps
from finitewidth.papers.collapse.settings.flow import BlockKernel, Flow
from finitewidth.papers.collapse.settings.pairs import Maps, Models, Pairs
from finitewidth.settings.sections import Section, refused


class Settings(Section):
    """Neural (tangent kernel) collapse."""

    flow: Flow
    block_kernel: BlockKernel
    pairs: Pairs
    sweeps: Sweeps
    lengths: Lengths
    models: Models
    maps: Maps
    decay: Decay

    @model_validator(mode="after")
    def _kept_weights(self) -> "Settings":
        for name, heat_map in self.maps:
            keep = getattr(self.pairs, name).keep
            if heat_map and heat_map.init not in keep:
                allowed = f"its weights are not kept; add it to collapse.pairs.{name}.keep"
                raise refused(f"maps.{name}.init", heat_map.init, allowed)
        return self
