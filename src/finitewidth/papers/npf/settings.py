"""Settings of npf: type, range, meaning and source. Imports no torch."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from finitewidth.common.errors import nearest, one_of
from finitewidth.settings import sections as types
from finitewidth.settings.sections import Section, code, general, ours, paper, section

Checkpoint = Literal["best_test", "best_validation", "last"]
NetworkName = Annotated[str, Field(max_length=100, pattern=r"^[a-z0-9_]+$")]
Few = Annotated[int, Field(ge=1, le=6)]  # what can be drawn unit by unit
Gates = Annotated[list[Literal[0, 1]], Field(min_length=1, max_length=6)]  # of a layer
Widths = Annotated[types.Distinct[types.Width], Field(min_length=1, max_length=20)]
# a quarter of the units is shared
Quarters = Annotated[
    types.Distinct[Annotated[int, Field(ge=4, le=100_000, multiple_of=4)]],
    Field(min_length=1, max_length=20),
]
# sources that sections share; with a stride of 3, which the paper writes as "(3,3)", both
# convolutional networks would be the same
CONVOLUTIONS = {
    "stride": types.Source("code", paper_also=[3]),
    "dense": types.Source("paper", paper_also=[[256]]),
}
SOFT = {"beta": types.Source("paper", paper_also=[8]), "eps": types.Source("code", paper_also=[0])}


class Row(Section):
    """A network and an optimiser."""

    network: NetworkName = paper("name of a network in npf.regimes.networks")
    dataset: types.Dataset = paper("dataset, by its name in the papers")
    optimiser: types.Optimiser = paper("optimiser that trains the networks")
    step_size: types.StepSize = code("step size of the optimiser")
    epochs: types.Epochs = code("passes over the training images")
    batch_size: types.Count = paper(
        "images in each batch; by default that of npf.regimes", default=None
    )
    train: types.CountOrAll = code(
        "number of training images; null: all; by default that of npf.regimes", default=None
    )
    test: types.Tested = code(
        "number of test images; null: all; by default that of npf.regimes", default=None
    )


class MnistRow(Row):
    """A row on MNIST, as tables and captions say; ``data.mnist`` says which images those are."""

    dataset: Literal["mnist"] = paper("dataset; data.mnist says which images play its part")


class CifarRow(Row):
    """A row on CIFAR-10; ``data.cifar10`` says which images those are."""

    dataset: Literal["cifar10"] = paper("dataset; data.cifar10 says which images play its part")


class Networks(Section):
    """Networks by name."""

    fc: types.FullyConnected = section(
        "fully connected network; its depth variable is 6, where the paper has d=5, earlier "
        "also d=6",
        width=types.Source("paper", paper_also=[100]),
        bias=types.Source("code", paper_also=[False]),
    )
    vconv: types.Convolutional = section("convolutional network with Flatten()", **CONVOLUTIONS)
    gconv: types.Convolutional = section(
        "convolutional network with global average pooling", **CONVOLUTIONS
    )
    gconv_cntk: types.Convolutional | None = ours(
        "convolutional network that npf.cntk alone uses; null: none", default=None
    )


class Rows(Section):
    """Table 2: step sizes are the paper's, Adam 3e-4, SGD the best of three."""

    fc_sgd: MnistRow = section("fully connected network, trained by SGD")
    fc_adam: MnistRow = section(
        "fully connected network, trained by Adam",
        step_size=types.Source("code", paper_also=[0.0003]),
    )
    vconv_sgd: CifarRow = section("convolutional network with Flatten(), trained by SGD")
    vconv_adam: CifarRow = section(
        "convolutional network with Flatten(), trained by Adam", step_size=types.PAPER
    )
    gconv_sgd: CifarRow = section(
        "convolutional network with global average pooling, trained by SGD"
    )
    gconv_adam: CifarRow = section(
        "convolutional network with global average pooling, trained by Adam", step_size=types.PAPER
    )


class Regimes(Section):
    """Table 2: five gate regimes on six rows of network and optimiser."""

    runs: types.Runs = paper("number of seeds, shared by all regimes (our choice)")
    train: types.CountOrAll = code("number of training images, stratified by class; null: all")
    test: types.Tested = code("number of test images; null: all")
    batch_size: types.Count = paper("images in each batch")
    gate: types.Gate = section("soft gates of DLNPF; the earlier version has beta = 8", **SOFT)
    select: types.Select = paper("epoch whose test accuracy is reported")
    flnpf_checkpoint: Checkpoint = code("ReLU weights that give FLNPF its gates")
    sgd_search: bool = code(
        "whether SGD uses the best of sgd_step_sizes, searched by regime", paper_also=[True]
    )
    sgd_step_sizes: types.Distinct[types.StepSize] = paper(
        "step sizes of SGD that are searched", min_length=1, max_length=20
    )
    trained: types.Trained = ours(
        "best train accuracy from which a run counts as trained; the paper trains close to 100 %"
    )
    networks: Networks
    rows: Rows


class Cntk(Section):
    """Extra: the CNTK computed, and the regimes trained, on the same images.

    The paper quotes 77.43 % (Arora et al. 2019, all of CIFAR-10, many GPU-days).
    """

    network: Literal["vconv", "gconv", "gconv_cntk"] = ours(
        "name of a network in npf.regimes.networks"
    )
    dataset: Literal["cifar10"] = ours("dataset; data.cifar10 says which images play its part")
    runs: types.Runs = ours("number of runs, each from another seed")
    train: int = ours(
        "number of training images; the time grows with pairs of images × (HW)²", ge=20, le=20_000
    )
    test: int = ours("number of test images", ge=2, le=20_000)
    pool: int = ours(
        "side, in pixels, of the squares that are averaged into one pixel", ge=1, le=32
    )
    sizes: types.Distinct[Annotated[int, Field(ge=20, le=20_000)]] = ours(
        "further numbers of training images, for the kernel alone", min_length=0, max_length=20
    )
    ridges: types.Distinct[Annotated[float, Field(gt=0, le=1_000_000)]] = ours(
        "ridges that are tried, in units of the kernel's mean diagonal", min_length=1, max_length=20
    )
    optimiser: types.Optimiser = ours("optimiser that trains the networks")
    step_size: types.StepSize = ours("step size of the optimiser, as in Table 2")
    batch_size: types.Count = ours("images in each batch")
    epochs: types.Epochs = ours("passes over the training images")
    flnpf_checkpoint: Checkpoint = ours("ReLU weights that give FLNPF its gates")
    trained: types.Trained = ours("best train accuracy from which a run counts as trained")


class CntkOnImages(Section):
    """The job ``npf_cntk``: settings of `Cntk`, with the layers of its network."""

    train: int = general("number of training images")
    test: int = general("number of test images")
    pool: int = general("side, in pixels, of squares averaged to one")
    sizes: list[int] = general("further numbers of training images, for the kernel alone")
    ridges: list[float] = general("ridges that are tried, in units of the kernel's mean diagonal")
    trained: types.Trained = general("best train accuracy from which a run counts as trained")
    network: types.Convolutional
    comparable: dict[str, bool] = general(
        "datasets, and whether what rests on each is at the paper's scale"
    )


class Stages(Section):
    """Figure 3 left: gates learnt for ever longer, frozen, and the rest trained from scratch."""

    network: NetworkName = paper("name of a network in npf.regimes.networks")
    dataset: Literal["cifar10"] = paper("dataset; data.cifar10 says which images play its part")
    runs: types.Runs = code("number of runs, each from another seed")
    train: types.CountOrAll = code("number of training images; null: all")
    test: types.Tested = code("number of test images; null: all")
    optimiser: types.Optimiser = code("optimiser that trains the networks")
    step_size: types.StepSize = paper("step size of the optimiser")
    batch_size: types.Count = paper("images in each batch")
    stages: int = paper("number of stages at which gates are taken", ge=1, le=100)
    stage_epochs: types.Epochs = paper("epochs of the ReLU network between two stages")
    epochs: types.Epochs = code("epochs of FLNPF at every stage, and of FRNPF, which is stage 0")
    checkpoint: Literal["best_so_far", "epoch"] = code(
        "ReLU weights of a stage: best test accuracy up to its epoch; epoch: those at this epoch",
        paper_also=["epoch"],
    )
    trained: types.Trained = ours("best train accuracy from which a run counts as trained")


class SelectedStages(Stages):
    """The job ``npf_stages``."""

    select: types.Select = general("epoch whose test accuracy is reported, as in `Regimes`")


class Nu(types.Evaluated):
    """Figure 3 middle: nu_t = yᵀ Ĥ_t⁻¹ y while a ReLU network learns to tell two digits apart."""

    network: types.FullyConnected = section(
        "fully connected network; the paper has d=5, four hidden layers"
    )
    dataset: types.Dataset = paper("dataset, by its name in the papers")
    classes: types.Classes = paper("two digits to tell apart; the first has the label -1")
    runs: types.Runs = code("number of runs, each from another seed")
    train: types.CountOrAll = paper("number of training images of the two digits; null: all")
    test: types.Tested = paper("number of test images of the two digits; null: all")
    optimiser: types.Optimiser = code("optimiser that trains the networks")
    step_size: types.StepSize = code("step size of the optimiser")
    batch_size: types.Count = code("images in each batch")
    epochs: types.Epochs = code("passes over the training images")
    every: types.Epochs = code("epochs between two evaluations")
    per_class: types.Count = paper(
        "images of each class in the kernel, 200 together; the notebooks take the first ones"
    )


class Kvf(types.Evaluated):
    """Figure 3 right: sizes of the kernels K^v and K^f while DLNPF learns."""

    network: types.FullyConnected = section(
        "fully connected network, as in Table 2", bias=types.Source("code", paper_also=[False])
    )
    dataset: types.Dataset = paper("dataset, by its name in the papers")
    gate: types.Gate = section("soft gates of DLNPF", **SOFT)
    runs: types.Runs = code("number of runs, each from another seed")
    train: types.CountOrAll = code("number of training images; null: all")
    test: types.Tested = code("number of test images; null: all")
    optimiser: types.Optimiser = code("optimiser that trains the networks")
    step_size: types.StepSize = code("step size of the optimiser")
    batch_size: types.Count = paper("images in each batch")
    epochs: types.Epochs = code("passes over the training images")
    every: types.Epochs = code("epochs between two evaluations")
    per_class: types.Count = paper("images of each class in the kernels", code_also=[20])
    with_biases: bool = code("whether kernels count gradients by biases beside those by weights")
    output: Literal["logits_trace", "true_class_logit", "softmax_sum"] = ours(
        "output whose gradients make the kernels: trace over the logits; softmax_sum is a "
        "constant, so that all kernels are 0",
        code_also=["softmax_sum"],
    )


class Mean(Section):
    """Theorem B.1: all networks of some layer sizes, and draws of larger ones with fixed gates."""

    enumerated: list[
        Annotated[list[Annotated[int, Field(ge=1, le=18)]], Field(min_length=3, max_length=10)]
    ] = ours(
        "layer sizes of the networks that are enumerated: inputs first, one output last, at "
        "most 18 weights",
        min_length=1,
        max_length=100,
    )
    width: types.Width = ours("units of each hidden layer of the networks drawn")
    depths: types.TheoryDepths = ours("depths of the networks drawn, in weight layers")
    draws: types.TheoryDraws = ours("number of networks drawn at each depth")


class TheoryWidths(Section):
    """How fast kernels approach their limits."""

    widths: Widths = ours("units of each hidden layer")
    depths: types.TheoryDepths = ours("depths, in weight layers")


class Padding(Section):
    """Corollary C.1: copies of the gates of a feature network of fixed width."""

    width: types.Width = ours("units of each hidden layer of the feature network")
    copies: Widths = ours("numbers of copies of the gates")
    depths: types.TheoryDepths = ours("depths, in weight layers")


class Drawn(Section):
    """Networks drawn beside the exact variance."""

    widths: Quarters = ours("units of each hidden layer, multiples of 4")
    depths: types.TheoryDepths = ours("depths, in weight layers")
    draws: types.TheoryDraws = ours("number of networks drawn at each size")


class Variance(Section):
    """Theorem B.2 and dgn's Theorem 2.3: exact, and networks drawn beside."""

    widths: Quarters = ours("units of each hidden layer, multiples of 4")
    depths: types.TheoryDepths = ours("depths, in weight layers")
    drawn: Drawn


class Limits(Section):
    """Appendix A: ReLU networks, K^(d)."""

    width: types.Width = ours("units of each hidden layer")
    depths: types.TheoryDepths = ours("depths, in weight layers")
    runs: types.Runs = ours("number of networks of each depth")


class Theory(Section):
    """Section 5 and appendices A to C, checked: no figure of the paper, no data."""

    runs: int = ours("number of feature and value networks at each width and depth", ge=2, le=1000)
    inputs: int = ours("number of random inputs on the unit sphere", ge=2, le=1000)
    n0: int = ours(
        "input dimension of the networks; all rows of so many signs are listed", ge=1, le=18
    )
    mean: Mean
    widths: TheoryWidths
    padding: Padding
    variance: Variance
    limits: Limits


class Task(Section):
    """Networks of constant input and fixed random gates."""

    samples: types.Samples = paper("number of random targets to memorise")
    mu: float = paper("share of open gates; the weights are ±1/√(mu·w)", ge=0.01, le=0.99)
    depths: types.GatedDepths = paper("depths, in weight layers")


class MemorisationWidths(Section):
    """Widths of the two parts of the figures."""

    narrow: types.Width = paper("units of each hidden layer of the narrow networks")
    wide: types.Width = paper("units of each hidden layer of the wide networks")


class Shown(Section):
    """Each figure shows the first so many runs."""

    npf_fig7: types.Runs = paper("number of runs that npf Figure 7 shows")
    dgn_fig1: types.Runs = ours("number of runs that dgn Figure 1 shows")
    dgn_fig2: types.Runs = paper("number of runs that dgn Figure 2 shows")
    dgn_fig3: types.Runs = paper("number of runs that dgn Figure 3 shows")


class Descents(Section):
    """How many of the runs descend as well, and for how long."""

    runs: int = paper(
        "number of runs, among those drawn, that also descend; figures show at most 10",
        paper_also=[10],
        ge=0,
        le=1000,
    )
    steps: types.Steps = ours("steps of full-batch gradient descent")


class Descent(Section):
    """Gradient descent."""

    rate: float = paper(
        "step size times rho_max; the paper states it for w = 100, which no figure shows",
        gt=0,
        le=1000,
    )
    rho: types.Rho = ours("kernel whose largest eigenvalue is rho_max: K_0 of that run, or K_0/d")
    loss_half: bool = paper(
        "whether the loss is 1/2 sum e^2; false: sum e^2, as in dgn section 1", paper_also=[False]
    )
    linear_steps: types.Steps = ours("steps of the linear recursion, which all runs follow")
    narrow: Descents
    wide: Descents
    precision: types.Precision = ours(
        "precision of the arithmetic; adapted: float64 once the squared errors are below a "
        "millionth"
    )


class Trend(Section):
    """Further networks of the narrow width, which no figure shows, for claims on their depth."""

    runs: int = ours(
        "number of networks of each depth; 0: claims use those of the figures", ge=0, le=1000
    )
    steps: types.Steps = ours("steps of full-batch gradient descent")


class Memorisation(Section):
    """Figures 6 and 7, and dgn Figures 1 to 3: a network memorises random targets."""

    task: Task
    runs: types.Runs = paper(
        "number of runs, each with new gates; figures show at most so many", or_more=True
    )
    widths: MemorisationWidths
    shown: Shown
    descent: Descent
    trend: Trend


class DrawnTask(Task, Memorisation):
    """The job ``npf_memorisation``."""


class DepthTrend(Task, Memorisation, Descent):
    """The job ``npf_depth_trend``."""


class Toy(Section):
    """Figure 1."""

    inputs: Few = paper("input dimension of the toy network")
    width: Few = paper("units of each hidden layer")
    gates: list[Annotated[list[Gates], Field(min_length=2, max_length=2)]] = ours(
        "hidden layers of gates for three examples, such that paths 3 and 12 are those open for "
        "both the first and the second example",
        min_length=3,
        max_length=3,
    )

    @model_validator(mode="after")
    def _as_many_gates(self) -> "Toy":
        for gates in (layer for example in self.gates for layer in example):
            if len(gates) != self.width:
                allowed = f"every layer needs as many gates as width, {self.width}"
                raise types.refused("gates", gates, allowed)
        return self


class DrawnPadding(Section):
    """Figure 5."""

    width: Few = ours("units drawn for the width w")
    hidden: Few = ours("hidden layers drawn for d-1")
    copies: Few = ours("copies of the gates drawn for m")


class Concepts(Section):
    """Figures 1, 2, 4, 5 and Tables 1, 3, 4, 5: what explains the paper; nothing is random."""

    toy: Toy
    padding: DrawnPadding
    beta: types.Beta = paper("slope of the soft gates", paper_also=[8])


class Settings(Section):
    """Neural Path Features and Neural Path Kernel (npf), and its earlier version (npf0).

    The earlier version's Table 2 and Figure 3 show the same experiments. Where the sources
    disagree, docs/disagreements.md discusses default and switch.
    """

    regimes: Regimes
    cntk: Cntk
    stages: Stages
    nu: Nu
    kvf: Kvf
    theory: Theory
    memorisation: Memorisation
    concepts: Concepts

    @model_validator(mode="after")
    def _known_networks(self) -> "Settings":
        """Refuse names of networks that are not in ``regimes.networks``."""
        known = [name for name, network in self.regimes.networks if network is not None]
        names = {"stages.network": self.stages.network, "cntk.network": self.cntk.network}
        for key, row in self.regimes.rows:
            names[f"regimes.rows.{key}.network"] = row.network
        for key, name in names.items():
            if name not in known:
                raise types.refused(key, name, f"unknown{nearest(name, known)}; {one_of(known)}")
        return self

    @model_validator(mode="after")
    def _reference_of_stages(self) -> "Settings":
        """Refuse an optimiser of the stages with which Table 2 does not train their network."""
        rows = dict(self.regimes.rows)
        optimiser = self.stages.optimiser
        reference = f"{self.stages.network}_{optimiser}"
        if reference not in rows:
            allowed = f"the reference are the ReLU networks {reference}, which is no row of "
            allowed += f"npf.regimes.rows: {', '.join(rows)}"
            raise types.refused("stages.optimiser", optimiser, allowed)
        return self
