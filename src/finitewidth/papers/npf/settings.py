"""Settings of npf: type, range, meaning and source. Imports no torch."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from finitewidth.common.errors import nearest, one_of
from finitewidth.settings import sections as types
from finitewidth.settings.sections import Section, code, ours, paper, section

Checkpoint = Literal["best_test", "best_validation", "last"]
NetworkName = Annotated[str, Field(max_length=100, pattern=r"^[a-z0-9_]+$")]
Few = types.whole(1, 6)  # what can be drawn unit by unit
Gates = types.several(Literal[0, 1], most=6)  # of a layer
Widths = types.distinct(types.Width, most=20)
# a quarter of the units is shared
Quarters = types.distinct(Annotated[int, Field(ge=4, le=100_000, multiple_of=4)], most=20)
# sources that sections share; with a stride of 3, which the paper writes as "(3,3)", both
# convolutional networks would be the same
CONVOLUTIONS = {
    "stride": types.Source("code", paper_also=[3]),
    "dense": types.Source("paper", paper_also=[[256]]),
}
SOFT = {"beta": types.Source("paper", paper_also=[8]), "eps": types.Source("code", paper_also=[0])}


class Row(Section):
    """A network and an optimiser."""

    network: NetworkName = paper("one of regimes.networks")
    dataset: types.Dataset = paper("a dataset as the papers call it")
    optimiser: types.Optimiser = paper("rule of the steps")
    step_size: types.StepSize = code("of the optimiser")
    epochs: types.Epochs = code("passes over the training images")
    batch_size: types.Count = paper("images of a step; by default that of regimes", default=None)
    train: types.CountOrAll = code(
        "training images; null: all; by default those of regimes", default=None
    )
    test: types.Tested = code("test images; null: all; by default those of regimes", default=None)


class MnistRow(Row):
    """A row on MNIST, as tables and captions say; ``data.mnist`` says which images those are."""

    dataset: Literal["mnist"] = paper("data.mnist says which images play its part")


class CifarRow(Row):
    """A row on CIFAR-10; ``data.cifar10`` says which images those are."""

    dataset: Literal["cifar10"] = paper("data.cifar10 says which images play its part")


class Networks(Section):
    """Networks by name."""

    fc: types.FullyConnected = section(
        "fully connected; depth variable 6, where the paper has d=5, earlier also d=6",
        width=types.Source("paper", paper_also=[100]),
        bias=types.Source("code", paper_also=[False]),
    )
    vconv: types.Convolutional = section("convolutional with Flatten()", **CONVOLUTIONS)
    gconv: types.Convolutional = section(
        "convolutional with global average pooling", **CONVOLUTIONS
    )
    gconv_cntk: types.Convolutional | None = ours("for npf.cntk alone", default=None)


class Rows(Section):
    """Table 2: step sizes are the paper's, Adam 3e-4, SGD the best of three."""

    fc_sgd: MnistRow = section("fully connected, SGD")
    fc_adam: MnistRow = section(
        "fully connected, Adam", step_size=types.Source("code", paper_also=[0.0003])
    )
    vconv_sgd: CifarRow = section("convolutional, SGD")
    vconv_adam: CifarRow = section("convolutional, Adam", step_size=types.PAPER)
    gconv_sgd: CifarRow = section("with global average pooling, SGD")
    gconv_adam: CifarRow = section("with global average pooling, Adam", step_size=types.PAPER)


class Regimes(Section):
    """Table 2: five gate regimes on six rows of network and optimiser."""

    runs: types.Runs = paper("seeds, shared by all regimes (our choice)")
    train: types.CountOrAll = code("training images, stratified; null: all")
    test: types.Tested = code("test images; null: all")
    batch_size: types.Count = paper("images of a step")
    gate: types.Gate = section("soft gates of DLNPF; the earlier version has beta = 8", **SOFT)
    select: types.Select = paper("epoch whose test accuracy is reported")
    flnpf_checkpoint: Checkpoint = code("ReLU weights that give FLNPF its gates")
    sgd_search: bool = code(
        "whether SGD has the best of sgd_step_sizes by regime", paper_also=[True]
    )
    sgd_step_sizes: types.distinct(types.StepSize, most=20) = paper("step sizes that are searched")
    trained: types.Trained = ours(
        "best train accuracy from which a run is trained; the paper trains close to 100 %"
    )
    networks: Networks
    rows: Rows


class Cntk(Section):
    """Extra: the CNTK computed, and the regimes trained, on the same images.

    The paper quotes 77.43 % (Arora et al. 2019, all of CIFAR-10, many GPU-days).
    """

    network: Literal["vconv", "gconv", "gconv_cntk"] = ours("one of regimes.networks")
    dataset: Literal["cifar10"] = ours("data.cifar10 says which images play its part")
    runs: types.Runs = ours("seeds")
    train: types.whole(20, 20_000) = ours(
        "training images; time grows with pairs of images × (HW)²"
    )
    test: types.whole(2, 20_000) = ours("test images")
    pool: types.whole(1, 32) = ours("side of the squares of pixels that are averaged into one")
    sizes: types.distinct(types.whole(20, 20_000), most=20, least=0) = ours(
        "further numbers of training images, for the kernel alone"
    )
    ridges: types.distinct(types.positive(1_000_000), most=20) = ours(
        "ridge, in units of the kernel's mean diagonal"
    )
    optimiser: types.Optimiser = ours("rule of the steps")
    step_size: types.StepSize = ours("of the optimiser, as in Table 2")
    batch_size: types.Count = ours("images of a step")
    epochs: types.Epochs = ours("passes over the training images")
    flnpf_checkpoint: Checkpoint = ours("ReLU weights that give FLNPF its gates")
    trained: types.Trained = ours("best train accuracy from which a run is trained")


class Stages(Section):
    """Figure 3 left: gates learnt for ever longer, frozen, and the rest trained from scratch."""

    network: NetworkName = paper("one of regimes.networks")
    dataset: Literal["cifar10"] = paper("data.cifar10 says which images play its part")
    runs: types.Runs = code("seeds")
    train: types.CountOrAll = code("training images; null: all")
    test: types.Tested = code("test images; null: all")
    optimiser: types.Optimiser = code("rule of the steps")
    step_size: types.StepSize = paper("of Adam")
    batch_size: types.Count = paper("images of a step")
    stages: types.whole(1, 100) = paper("stages of the gates")
    stage_epochs: types.Epochs = paper("stage i: the ReLU network after so many epochs times i")
    epochs: types.Epochs = code("of FLNPF at every stage, and of FRNPF, stage 0")
    checkpoint: Literal["best_so_far", "epoch"] = code(
        "best test accuracy within these epochs; epoch: the last", paper_also=["epoch"]
    )
    trained: types.Trained = ours("best train accuracy from which a run is trained")


class Nu(types.Evaluated):
    """Figure 3 middle: nu_t = yᵀ Ĥ_t⁻¹ y while a ReLU network learns to tell two digits apart."""

    network: types.FullyConnected = section("the paper has d=5, four hidden layers")
    dataset: types.Dataset = paper("a dataset as the papers call it")
    classes: types.Classes = paper("two classes; the first becomes -1")
    runs: types.Runs = code("seeds")
    train: types.CountOrAll = paper("training images of the two digits; null: all")
    test: types.Tested = paper("test images of the two digits; null: all")
    optimiser: types.Optimiser = code("rule of the steps")
    step_size: types.StepSize = code("of the optimiser")
    batch_size: types.Count = code("images of a step")
    epochs: types.Epochs = code("passes over the training images")
    every: types.Epochs = code("epochs between evaluations")
    per_class: types.Count = paper("200 examples; the notebooks take the first of each class")


class Kvf(types.Evaluated):
    """Figure 3 right: sizes of the kernels K^v and K^f while DLNPF learns."""

    network: types.FullyConnected = section(
        "as in Table 2", bias=types.Source("code", paper_also=[False])
    )
    dataset: types.Dataset = paper("a dataset as the papers call it")
    gate: types.Gate = section("soft gates", **SOFT)
    runs: types.Runs = code("seeds")
    train: types.CountOrAll = code("training images; null: all")
    test: types.Tested = code("test images; null: all")
    optimiser: types.Optimiser = code("rule of the steps")
    step_size: types.StepSize = code("of the optimiser")
    batch_size: types.Count = paper("images of a step")
    epochs: types.Epochs = code("passes over the training images")
    every: types.Epochs = code("epochs between evaluations")
    per_class: types.Count = paper("images of each class in the kernels", code_also=[20])
    with_biases: bool = code("whether gradients by biases count; weights only otherwise")
    output: Literal["logits_trace", "true_class_logit", "softmax_sum"] = ours(
        "trace over the logits; softmax_sum differentiates a constant, so that all kernels are 0",
        code_also=["softmax_sum"],
    )


class Mean(Section):
    """Theorem B.1: all networks of some layer sizes, and draws of larger ones with fixed gates."""

    enumerated: types.several(types.several(types.whole(1, 18), most=10, least=3), most=100) = ours(
        "layer sizes, inputs first and one output last, with at most 18 weights"
    )
    width: types.Width = ours("units of a hidden layer of the networks drawn")
    depths: types.TheoryDepths = ours("weight layers of the networks drawn")
    draws: types.TheoryDraws = ours("networks drawn")


class TheoryWidths(Section):
    """How fast kernels approach their limits."""

    widths: Widths = ours("units of a hidden layer")
    depths: types.TheoryDepths = ours("weight layers")


class Padding(Section):
    """Corollary C.1: copies of the gates of a feature network of fixed width."""

    width: types.Width = ours("units of a hidden layer of the feature network")
    copies: Widths = ours("copies of the gates")
    depths: types.TheoryDepths = ours("weight layers")


class Drawn(Section):
    """Networks drawn beside the exact variance."""

    widths: Quarters = ours("units of a hidden layer, multiples of 4")
    depths: types.TheoryDepths = ours("weight layers")
    draws: types.TheoryDraws = ours("networks")


class Variance(Section):
    """Theorem B.2 and dgn's Theorem 2.3: exact, and networks drawn beside."""

    widths: Quarters = ours("units of a hidden layer, multiples of 4")
    depths: types.TheoryDepths = ours("weight layers")
    drawn: Drawn


class Limits(Section):
    """Appendix A: ReLU networks, K^(d)."""

    width: types.Width = ours("units of a hidden layer")
    depths: types.TheoryDepths = ours("weight layers")
    runs: types.Runs = ours("networks")


class Theory(Section):
    """Section 5 and appendices A to C, checked: no figure of the paper, no data."""

    runs: types.whole(2, 1000) = ours("feature and value networks per width and depth")
    inputs: types.whole(2, 1000) = ours("random points on the unit sphere")
    n0: types.whole(1, 18) = ours("inputs of a network; all rows of so many signs are listed")
    mean: Mean
    widths: TheoryWidths
    padding: Padding
    variance: Variance
    limits: Limits


class Task(Section):
    """Networks of constant input and fixed random gates."""

    samples: types.Samples = paper("random targets")
    mu: types.between(0.01, 0.99) = paper("share of open gates; weights are ±1/√(mu·w)")
    depths: types.GatedDepths = paper("weight layers")


class MemorisationWidths(Section):
    """Widths of the two parts of the figures."""

    narrow: types.Width = paper("units of a hidden layer")
    wide: types.Width = paper("units of a hidden layer")


class Shown(Section):
    """Each figure shows the first so many runs."""

    npf_fig7: types.Runs = paper("runs")
    dgn_fig1: types.Runs = ours("runs")
    dgn_fig2: types.Runs = paper("runs")
    dgn_fig3: types.Runs = paper("runs")


class Descents(Section):
    """How many of the runs descend as well, and for how long."""

    runs: types.whole(0, 1000) = paper(
        "of the runs drawn; at most 10 descending are shown", paper_also=[10]
    )
    steps: types.Steps = ours("of full-batch gradient descent")


class Descent(Section):
    """Gradient descent."""

    rate: types.positive(1000) = paper(
        "step size times rho_max; stated for w = 100, which no figure shows"
    )
    rho: types.Rho = ours("whose largest eigenvalue: of that run's K_0, or of K_0/d")
    loss_half: bool = paper("1/2 sum e^2; false: sum e^2, dgn section 1", paper_also=[False])
    linear_steps: types.Steps = ours("all runs follow the linear recursion for so many steps")
    narrow: Descents
    wide: Descents
    precision: types.Precision = ours(
        "of the arithmetic; adapted is float64 once the squared errors are below a millionth"
    )


class Trend(Section):
    """Further networks of the narrow width, which no figure shows, for claims on their depth."""

    runs: types.whole(0, 1000) = ours("networks of each depth; 0: claims use those of the figures")
    steps: types.Steps = ours("of full-batch gradient descent")


class Memorisation(Section):
    """Figures 6 and 7, and dgn Figures 1 to 3: a network memorises random targets."""

    task: Task
    runs: types.Runs = paper("new gates in each; the most that a figure shows", or_more=True)
    widths: MemorisationWidths
    shown: Shown
    descent: Descent
    trend: Trend


class Toy(Section):
    """Figure 1."""

    inputs: Few = paper("inputs")
    width: Few = paper("units of a hidden layer")
    gates: types.several(types.several(Gates, most=2, least=2), most=3, least=3) = ours(
        "hidden layers of gates for three examples, such that paths 3 and 12 are those open for "
        "both the first and the second example"
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

    width: Few = ours("of w drawn")
    hidden: Few = ours("of d-1 drawn")
    copies: Few = ours("of m drawn")


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
        networks, rows = self.regimes.networks, dict(self.regimes.rows)
        names = [name for name, network in networks if network is not None]
        chosen = {f"regimes.rows.{key}.network": row.network for key, row in rows.items()}
        chosen |= {"stages.network": self.stages.network, "cntk.network": self.cntk.network}
        for key, name in chosen.items():
            if name not in names:
                raise types.refused(key, name, f"unknown{nearest(name, names)}; {one_of(names)}")
        optimiser = self.stages.optimiser
        reference = f"{self.stages.network}_{optimiser}"
        if reference not in rows:
            allowed = f"the reference are the ReLU networks {reference}, which is no row of "
            allowed += f"npf.regimes.rows: {', '.join(rows)}"
            raise types.refused("stages.optimiser", optimiser, allowed)
        return self
