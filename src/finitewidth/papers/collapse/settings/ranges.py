"""Types of numbers and lists that several sections of collapse share. Imports no torch."""

from typing import Annotated, Literal

from pydantic import Field

from finitewidth.settings.sections import Distinct

Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0, le=1000)]
Channels = Annotated[int, Field(ge=1, le=10_000)]
Sizes = Annotated[list[Channels], Field(min_length=1, max_length=100)]
Initialisation = Literal["lecun", "torch", "he"]
Initialisations = Annotated[Distinct[Initialisation], Field(min_length=1, max_length=3)]
