"""What the models of settings are made of: a base class, sources, and types with ranges.

A section of the settings is a subclass of `Section`. A field has the type of a setting, and its
meaning, source and range, in the function `paper`, `code` or `ours`::

    class Nu(Section):
        runs: int = ours("number of networks that are drawn", ge=1, le=1000)
        epochs: Epochs = code("passes over the training images")
        width: Width = paper("units of each hidden layer", paper_also=[50])

This module does not import torch.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypedDict,
    TypeVar,
    Union,
    Unpack,
    get_args,
    get_origin,
)

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from finitewidth.common.errors import ConfigError


class SettingNotDeclaredError(ConfigError, AttributeError):
    """A job reads a setting that its declaration does not name."""


class Section(BaseModel):
    """A section of the settings. Unknown keys, values of another type, NaN and inf are refused."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True
    )

    if not TYPE_CHECKING:  # a checker shall find names that no setting has

        def __getattr__(self, name: str) -> Any:
            """Say of a setting that a job did not ask for how it can; see `settings.typed`."""
            if name in type(self).model_fields:
                raise SettingNotDeclaredError(
                    f"{type(self).__name__} is without the setting {name!r} here: add it to the "
                    "params of this job in workflow/papers"
                )
            return super().__getattr__(name)


class Limits(TypedDict, total=False):
    """The range of a number, and the least and the largest number of entries of a list."""

    ge: float  # at least
    gt: float  # above
    le: float  # at most
    min_length: int
    max_length: int


@dataclass(frozen=True)
class Source:
    """Where the value of a setting in ``config/papers`` comes from."""

    kind: Literal["paper", "code", "ours"]  # `code` is the authors', `ours` is given nowhere
    or_more: bool = False  # any larger number serves as well, such as more draws
    paper_also: Sequence[Any] = ()  # further values that the paper gives
    code_also: Sequence[Any] = ()  # further values that the authors' code gives

    @property
    def stated(self) -> bool:
        """Whether the value is the paper's or that of its code."""
        return self.kind != "ours"

    def accepts(self, default: Any, value: Any) -> bool:
        """Whether the paper or its code gives a value; ``config/papers`` has the ``default``."""
        if any(_same(value, other) for other in (*self.paper_also, *self.code_also)):
            return True
        if not self.stated:
            return False
        return _same(value, default) or (self.or_more and value >= default)

    def __str__(self) -> str:
        """``authors' code; the paper also has 0``."""
        words: str = "authors' code" if self.kind == "code" else self.kind
        if self.or_more:
            words += " (or more)"
        for value in self.paper_also:
            words += f"; the paper also has {_written(value)}"
        for value in self.code_also:
            words += f"; the code also has {_written(value)}"
        return words


PAPER = Source("paper")
CODE = Source("code")
OURS = Source("ours")


def _same(one: Any, other: Any) -> bool:
    """Equality of YAML values: 4 is 4.0, but 1 is not true."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _written(value: Any) -> str:
    text = "null" if value is None else str(value)
    return text.lower() if isinstance(value, bool) else text


def _field(
    kind: Literal["paper", "code", "ours"],
    meaning: str,
    *,
    default: Any = ...,
    alias: str | None = None,
    or_more: bool = False,
    paper_also: Sequence[Any] = (),
    code_also: Sequence[Any] = (),
    **limits: Unpack[Limits],
) -> Any:
    """Return a field whose value is of this kind; see `Source` and `Limits`."""
    source = Source(kind, or_more=or_more, paper_also=paper_also, code_also=code_also)
    extra: dict[str, Any] = {"source": source}
    return Field(default, alias=alias, description=meaning, json_schema_extra=extra, **limits)


# fields whose value is the paper's, that of the authors' code, and our own choice
paper = partial(_field, "paper")
code = partial(_field, "code")
ours = partial(_field, "ours")


def section(meaning: str, **sources: Source) -> Any:
    """Return a field that holds a section.

    The ``sources`` are of settings in it that have another one here than its class says: path below
    the section, with ``__`` between its parts, -> source.
    """
    paths = {path.replace("__", "."): source for path, source in sources.items()}
    extra: dict[str, Any] = {"sources": paths}
    return Field(description=meaning, json_schema_extra=extra if paths else None)


def general(meaning: str, **limits: Unpack[Limits]) -> Any:
    """Return a field that belongs to no paper."""
    return Field(description=meaning, **limits)


# --- types --------------------------------------------------------------------------------------


def _differing(values: list[Any]) -> list[Any]:
    if any(value in values[:index] for index, value in enumerate(values)):
        raise PydanticCustomError("distinct", "its entries must differ")
    return values


Entry = TypeVar("Entry")
Distinct = Annotated[list[Entry], AfterValidator(_differing)]  # no two entries are equal

Count = Annotated[int, Field(ge=1, le=1_000_000)]
CountOrAll = Annotated[int, Field(ge=1, le=100_000_000)] | None
# at least 2, as each half of the test images selects the epoch of the other
Tested = Annotated[int, Field(ge=2, le=100_000_000)] | None
Runs = Annotated[int, Field(ge=1, le=1000)]
Draws = Annotated[int, Field(ge=3, le=100_000_000)]
Epochs = Annotated[int, Field(ge=1, le=100_000)]
Samples = Annotated[int, Field(ge=2, le=100_000)]
Width = Annotated[int, Field(ge=1, le=100_000)]
Hidden = Annotated[int, Field(ge=1, le=1000)]
StepSize = Annotated[float, Field(gt=0, le=1000)]
Steps = Annotated[int, Field(ge=1, le=1_000_000)]
Optimiser = Literal["sgd", "adam", "rmsprop"]
Init = Literal["glorot_uniform", "he_uniform", "signed"]
Select = Literal["best_test", "cross_fitted", "last"]
Trained = Annotated[float, Field(gt=0, le=1)]
Dataset = Literal["mnist", "fashion_mnist", "cifar10"]
Beta = Annotated[float, Field(gt=0, le=1_000_000)]
Eps = Annotated[float, Field(ge=0, le=10)]
Classes = Annotated[Distinct[Annotated[int, Field(ge=0, le=9)]], Field(min_length=2, max_length=2)]
GatedDepths = Annotated[
    Distinct[Annotated[int, Field(ge=2, le=1000)]], Field(min_length=1, max_length=100)
]  # weight layers; one hidden layer at least
TheoryDepths = Annotated[
    Distinct[Annotated[int, Field(ge=2, le=1000)]], Field(min_length=1, max_length=30)
]  # weight layers
TheoryDraws = Annotated[int, Field(ge=2, le=100_000_000)]
Rho = Literal["kernel", "kernel_over_depth"]
Precision = Literal["float32", "float64", "adapted"]
# A shell that reads such a path between quotes takes it as it is, and so does Snakemake.
Path = Annotated[str, Field(max_length=1000, pattern=r"^[\w@%+=:,./~ -]+$")]
Name = Annotated[str, Field(max_length=100, pattern=r"^[a-z][a-z0-9_]*$")]


class Gate(Section):
    """Soft gates (1 + eps)/(1 + exp(-beta q))."""

    beta: Beta = paper("slope beta of the gates")
    eps: Eps = paper("offset eps; gates lie between 0 and 1 + eps")


class FullyConnected(Section):
    """A fully connected network whose hidden layers have one width."""

    kind: Literal["fully_connected"] = paper("kind of network, here fully connected")
    hidden: Hidden = code("number of hidden layers", paper_also=[4])
    width: Width = paper("units of each hidden layer")
    bias: bool = code("whether layers have biases")
    init: Init = code("distribution of the initial weights")


class Convolutional(Section):
    """A convolutional network with kernels of 3×3 and dense layers."""

    kind: Literal["convolutional"] = paper("kind of network, here convolutional")
    channels: list[Width] = paper(
        "output channels of each convolution", min_length=1, max_length=100
    )
    padding: Literal["same", "valid"] = code("padding of the convolutions' inputs")
    stride: int = code("stride of the convolutions, in pixels", ge=1, le=16)
    global_average_pooling: bool = paper(
        "whether features are averaged over all positions; false: Flatten()"
    )
    dense: list[Width] = paper("units of each hidden dense layer", min_length=1, max_length=100)
    bias: bool = code("whether layers have biases", paper_also=[False])
    init: Literal["glorot_uniform", "he_uniform"] = code("distribution of the initial weights")


def refused(key: str, value: Any, allowed: str) -> PydanticCustomError:
    """Return the error of a setting, at a path below the section, that contradicts another one.

    It says what is ``allowed`` instead, such as ``it must be at most epochs, 50``.
    """
    context = {"key": key, "value": repr(value), "allowed": allowed}
    return PydanticCustomError("refused", "{value} is refused; {allowed}", context)


class Evaluated(Section):
    """A training of at least as many ``epochs`` as lie between two of its snapshots, ``every``.

    Its sections define both.
    """

    if TYPE_CHECKING:
        every: int
        epochs: int

    @model_validator(mode="after")
    def _evaluated(self) -> "Evaluated":
        if self.every > self.epochs:
            raise refused("every", self.every, f"it must be at most epochs, {self.epochs}")
        return self


# --- walks --------------------------------------------------------------------------------------


def section_of(annotation: Any, value: Any = None) -> type[Section] | None:
    """The class of the section that a field holds; of several, the one that suits ``value``."""
    if isinstance(annotation, type):
        return annotation if issubclass(annotation, Section) else None
    if get_origin(annotation) is Annotated:
        return section_of(get_args(annotation)[0], value)
    members = map(section_of, get_args(annotation))
    sections = [section for section in members if section]
    if len(sections) > 1 and isinstance(value, Mapping):
        for section in sections:
            if value.get("kind") in get_args(section.model_fields["kind"].annotation):
                return section
        return None
    is_union = get_origin(annotation) in (Union, type(int | None))
    return sections[0] if sections and is_union else None


def fields_of(model: type[Section]) -> dict[str, FieldInfo]:
    """Key in the YAML files -> field, of a section."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def settings_in(
    model: type[Section], values: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, ...], FieldInfo, Source | None]]:
    """Yield path, field and source of every setting that is no section."""
    for key, value in values.items():
        field = fields_of(model)[key]
        extra: Any = field.json_schema_extra or {}
        inner = section_of(field.annotation, value)
        if inner is None or not isinstance(value, Mapping):
            yield (key,), field, extra.get("source")
            continue
        for path, leaf, source in settings_in(inner, value):
            yield (key, *path), leaf, extra.get("sources", {}).get(".".join(path), source)
