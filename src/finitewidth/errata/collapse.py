"""Errata of ``collapse`` in the dynamics under a block kernel."""

from itertools import combinations_with_replacement

import numpy as np

from finitewidth.common.texts import Quote
from finitewidth.errata import collapse_limits, collapse_theorem
from finitewidth.errata.block_kernel import (
    ALPHA,
    CLASSES,
    FEATURES,
    KAPPA_C,
    KAPPA_N,
    LABELS,
    MU_CLASS,
    MU_SINGLE,
    ONES,
    SAMPLES,
    first_part,
    flow,
    product_rate,
    random_state,
    second_part,
)
from finitewidth.errata.erratum import Erratum, Evidence, exactly
from finitewidth.errata.networks import generator

SETTING = "C = 3, m = 2, n = 5, random state"


def aligned_weights() -> Evidence:
    """Rate of WᵀW.

    The sum of the features' terms has the same rate if the invariant stays 0.
    """
    state = random_state(generator("collapse-1"), centred=True)
    rate = flow(state)
    # the term with α vanishes, because H₁ 1 = 0 for centred features
    means = product_rate(state.means, first_part(rate.features)) / MU_CLASS
    rest = product_rate(state.rest, second_part(rate.features)) / MU_SINGLE
    truth = product_rate(state.weights.T, rate.weights.T) / SAMPLES
    quantity = f"entry (1, 1) of d(WᵀW)/dt / m; {SETTING}, ⟨h⟩ = 0"
    return exactly(quantity, *(value[0, 0] for value in (truth, means - rest, means + rest)))


def rate_of_weights() -> Evidence:
    """Entry (1, 1) of the rate of the weights."""
    state = random_state(generator("collapse-2"))
    residuals = state.weights @ state.means + state.biases[:, None] - np.eye(CLASSES)
    signal, noise = residuals @ state.means.T, state.weights @ state.rest @ state.rest.T
    forms = (-SAMPLES * (signal + sign * noise)[0, 0] for sign in (-1, 1))
    return exactly(f"entry (1, 1) of dW/dt; {SETTING}", flow(state).weights[0, 0], *forms)


def two_eigenvalues() -> Evidence:
    """μ_single + μ_class, compared with sums of two eigenvalues of the block kernel."""
    same = np.kron(np.eye(CLASSES), np.ones((SAMPLES, SAMPLES)))
    kernel = KAPPA_N + (KAPPA_C - KAPPA_N) * same + MU_SINGLE * np.eye(CLASSES * SAMPLES)
    values = np.unique(np.linalg.eigvalsh(kernel).round(10))
    quantity = "μ_single + μ_class at κ = (1.7, 0.9, 0.3), C = 3, m = 2"
    return exactly(quantity, MU_SINGLE + MU_CLASS, values[-2:].sum(), values[:2].sum())


def _end_of_training(erratum: str) -> tuple:
    """Return H₂ of a fitted state, its rate, and Ẽ of (45)."""
    state = random_state(generator(erratum), fitted=True)
    conserved = MU_SINGLE * state.weights.T @ state.weights - SAMPLES * state.rest @ state.rest.T
    return state.rest, second_part(flow(state).features), conserved


def end_rate() -> Evidence:
    """Entry (1, 1) of the rate of H₂ at the end of training."""
    rest, rate, conserved = _end_of_training("collapse-4")
    corrected = -((conserved + SAMPLES * rest @ rest.T) @ rest)[0, 0]
    quantity = f"entry (1, 1) of dH₂/dt; {SETTING} with R₁ = 0"
    return exactly(quantity, rate[0, 0], MU_SINGLE * corrected, corrected)


def end_products() -> Evidence:
    """Entry (1, 1) of the rate of H₂ H₂ᵀ at the end of training."""
    rest, rate, conserved = _end_of_training("collapse-5")
    gram = rest @ rest.T
    common = -conserved @ gram - gram @ conserved
    forms = ((common - 2 * factor * gram @ gram)[0, 0] for factor in (1, SAMPLES))
    quantity = f"entry (1, 1) of d(H₂H₂ᵀ)/dt; {SETTING} with R₁ = 0"
    return exactly(quantity, product_rate(rest, rate)[0, 0], *forms)


def mean_term() -> Evidence:
    """The term of the global mean in E of (26)."""
    state = random_state(generator("collapse-6"))
    means, rest = state.means, state.rest
    plain = state.weights.T @ state.weights / SAMPLES - rest @ rest.T / MU_SINGLE
    invariant = plain - means @ (np.eye(CLASSES) - ALPHA * ONES) @ means.T / MU_CLASS
    mean = state.features.mean(axis=1)
    term = ALPHA * CLASSES**2 / MU_CLASS * mean[0] ** 2
    truth = (plain - means @ means.T / MU_CLASS - invariant)[0, 0]
    quantity = f"entry (1, 1) of WᵀW/m − H₁H₁ᵀ/μ_class − H₂H₂ᵀ/μ_single − E; {SETTING}"
    return exactly(quantity, truth, -SAMPLES * term, -term)


def _general_blocks(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    roots = [rng.standard_normal((FEATURES, FEATURES)) for _ in range(3)]
    return tuple(root @ root.T for root in roots)


def general_rate() -> Evidence:
    """Entry (1, 1) of the rate of the features under a general block kernel."""
    rng = generator("collapse-14")
    state, blocks = random_state(rng), _general_blocks(rng)
    residuals = state.residuals
    per_class = residuals @ LABELS.T @ LABELS / SAMPLES
    overall = np.repeat(residuals.mean(axis=1, keepdims=True), CLASSES * SAMPLES, axis=1)
    first, second, third = (
        count * block @ state.weights.T @ part
        for block, count, part in zip(
            blocks,
            (1, SAMPLES, CLASSES * SAMPLES),
            (residuals, per_class, overall),
            strict=True,
        )
    )
    truth = flow(state, blocks).features[0, 0]
    forms = (value[0, 0] for value in (-first + second + third, -first - second - third))
    return exactly(f"entry (1, 1) of dH/dt; general blocks, {SETTING}", truth, *forms)


def general_invariant() -> Evidence:
    """Entry (1, 2) of the rate of WᵀW - c₁ H₁H₁ᵀ - c₂ H₂H₂ᵀ under a general block kernel."""
    rng = generator("collapse-15")
    state, blocks = random_state(rng, centred=True), _general_blocks(rng)
    c1, c2, eye = 0.7, 1.3, np.eye(FEATURES)
    rate = flow(state, blocks)
    means, rest, weights = state.means, state.rest, state.weights
    truth = (
        product_rate(weights.T, rate.weights.T)
        - c1 * product_rate(means, first_part(rate.features))
        - c2 * product_rate(rest, second_part(rate.features))
    )
    residuals = weights @ means + state.biases[:, None] - np.eye(CLASSES)
    factor = c1 * (blocks[0] + SAMPLES * blocks[1]) - SAMPLES * eye
    one = factor @ weights.T @ residuals @ means.T
    two = (c2 * blocks[0] - SAMPLES * eye) @ weights.T @ weights @ rest @ rest.T
    forms = ((one + two + sign * (one + two).T)[0, 1] for sign in (-1, 1))
    quantity = f"entry (1, 2) of dE/dt; general blocks, c = (0.7, 1.3), {SETTING}, ⟨h⟩ = 0"
    return exactly(quantity, truth[0, 1], *forms)


def number_of_kernels() -> Evidence:
    """Kernels of pairs of outputs and of pairs of features, listed."""
    outputs, features = 10, 64
    pairs = [list(combinations_with_replacement(range(n), 2)) for n in (outputs, features)]
    printed = outputs * (outputs + 1) + features * (features + 1)
    quantity = "kernels Θ_ks and Θʰ_ks with k ≤ s, C = 10, n = 64"
    return exactly(quantity, sum(map(len, pairs)), printed, printed / 2)


ERRATA = (
    *collapse_limits.ERRATA,
    *collapse_theorem.ERRATA,
    Erratum(
        id="collapse-1",
        paper="collapse",
        place="(28)",
        printed="WᵀW ∝ (1/μ_class) H₁H₁ᵀ − (1/μ_single) H₂H₂ᵀ",
        corrected="WᵀW ∝ (1/μ_class) H₁H₁ᵀ + (1/μ_single) H₂H₂ᵀ, from (26)",
        kind="misprint",
        evidence="Rate of both sides under gradient flow, from the definition of the kernel: "
        "with E = 0 in (26) they stay equal. The authors' code has the plus.",
        check=aligned_weights,
        quotes=(
            Quote(
                text="thesis",
                line=2698,
                words=r"\mathbf{W}^\top \mathbf{W} \propto \frac{1}{\mu_{\text{class}}} "
                r"\mathbf{H}_1 \mathbf{H}_1^\top - \frac{1}{\mu_{\text{single}}}",
            ),
        ),
    ),
    Erratum(
        id="collapse-2",
        paper="collapse",
        place="(40), third line",
        printed="dW/dt = −m (R₁H₁ᵀ − W H₂H₂ᵀ)",
        corrected="dW/dt = −m (R₁H₁ᵀ + W H₂H₂ᵀ), as in (25)",
        kind="misprint",
        evidence="Gradient flow, sample by sample. The line before it, (38), has the right sign.",
        check=rate_of_weights,
        quotes=(
            Quote(
                text="thesis",
                line=2901,
                words=r"-m(\mathbf{R}_1 \mathbf{H}_1^\top - \mathbf{W}\mathbf{H}_2 "
                r"\mathbf{H}_2^\top)",
            ),
        ),
    ),
    Erratum(
        id="collapse-3",
        paper="collapse",
        place="B.2, after (39)",
        printed="μ_single and μ_class are the two largest eigenvalues of the block-structured "
        "kernel",
        corrected="the two smallest, as after (25)",
        kind="misprint",
        evidence="Eigenvalues of a block kernel.",
        check=two_eigenvalues,
        quotes=(
            Quote(
                text="thesis",
                line=2899,
                words="are the two largest eigenvalues of the block-structured kernel",
            ),
        ),
    ),
    Erratum(
        id="collapse-4",
        paper="collapse",
        place="(46), first line",
        printed="dH₂/dt = −μ_single (Ẽ + m H₂H₂ᵀ) H₂",
        corrected="dH₂/dt = −(Ẽ + m H₂H₂ᵀ) H₂, from (44) and (45)",
        kind="misprint",
        evidence="Gradient flow at R₁ = 0, sample by sample.",
        check=end_rate,
        quotes=(
            Quote(
                text="thesis",
                line=2931,
                words=r"-\mu_{\text{single}} (\tilde{\mathbf{E}} + m \mathbf{H}_2",
            ),
        ),
    ),
    Erratum(
        id="collapse-5",
        paper="collapse",
        place="(47), (48), (49)",
        printed="−2 (H₂H₂ᵀ)²; −2 Σ_j α_kj α_jl; −2 Σ_j α_kj²",
        corrected="−2m (H₂H₂ᵀ)²; −2m Σ_j α_kj α_jl; −2m Σ_j α_kj²",
        kind="misprint",
        evidence="Gradient flow at R₁ = 0, sample by sample. "
        "The sign, which the conclusion (50) needs, is right.",
        check=end_products,
        quotes=(
            Quote(
                text="thesis", line=2935, words=r"- 2(\mathbf{H}_2 \mathbf{H}_2^\top)^2 \quad (47)"
            ),
            Quote(text="thesis", line=2939, words=r"- 2 \sum_j \alpha_{kj} \alpha_{jl}"),
            Quote(text="thesis", line=2943, words=r"- 2 \sum_j \alpha_{kj}^2"),
        ),
    ),
    Erratum(
        id="collapse-6",
        paper="collapse",
        place="(54)",
        printed="E − (α m C²/μ_class) ⟨h⟩⟨h⟩ᵀ",
        corrected="E − (α C²/μ_class) ⟨h⟩⟨h⟩ᵀ; without effect at ⟨h⟩ = 0",
        kind="misprint",
        evidence="Both sides with E of (26) at a random state.",
        check=mean_term,
        quotes=(
            Quote(
                text="thesis",
                line=2965,
                words=r"\mathbf{E} - \frac{\alpha m C^2}{\mu_{\text{class}}}",
            ),
        ),
    ),
    Erratum(
        id="collapse-14",
        paper="collapse",
        place="(72), first line",
        printed="dH/dt = −A_d WᵀR + m A_c WᵀR_class + N A_n WᵀR_global",
        corrected="dH/dt = −A_d WᵀR − m A_c WᵀR_class − N A_n WᵀR_global, as in (73)",
        kind="misprint",
        evidence="Gradient flow under general blocks, sample by sample.",
        check=general_rate,
        quotes=(
            Quote(
                text="thesis",
                line=3114,
                words=r"-\mathbf{A}_d \mathbf{W}^\top \mathbf{R} + m \mathbf{A}_c \mathbf{W}^\top "
                r"\mathbf{R}_{\text{class}} + N",
            ),
        ),
    ),
    Erratum(
        id="collapse-15",
        paper="collapse",
        place="(77), (78)",
        printed="… WᵀR₁H₁ᵀ − H₁R₁ᵀW …; … WᵀW H₂H₂ᵀ − H₂H₂ᵀWᵀW …",
        corrected="… WᵀR₁H₁ᵀ + H₁R₁ᵀW …; … WᵀW H₂H₂ᵀ + H₂H₂ᵀWᵀW …: "
        "the derivative of a symmetric matrix is symmetric",
        kind="misprint",
        evidence="Gradient flow under general blocks, sample by sample.",
        check=general_invariant,
        quotes=(
            Quote(
                text="thesis",
                line=3138,
                words=r"\mathbf{H}_1^\top - \mathbf{H}_1 \mathbf{R}_1^\top \mathbf{W}",
            ),
            Quote(
                text="thesis",
                line=3140,
                words=r"\mathbf{H}_2^\top - \mathbf{H}_2 \mathbf{H}_2^\top \mathbf{W}^\top",
            ),
        ),
    ),
    Erratum(
        id="collapse-16",
        paper="collapse",
        place="Assumption D.2, (79)",
        printed="A_c = κ_c 𝕀 + N_c, A_d = κ_d 𝕀 + N_d",
        corrected="A_c = (κ_c − κ_n) 𝕀 + N_c, A_d = (κ_d − κ_c) 𝕀 + N_d "
        "with the κ of Assumption 3.2",
        kind="convention",
        evidence="Assumption 3.2, the special case that is to be relaxed, has "
        "A_c = (κ_c − κ_n) 𝕀 and A_d = (κ_d − κ_c) 𝕀 in the sentence before. "
        "The κ of (79) are other constants of the same name.",
        quotes=(
            Quote(
                text="thesis",
                line=3150,
                words=r"\mathbf{A}_c = \kappa_c \mathbb{I}_n + \mathbf{N}_c, \mathbf{A}_d = "
                r"\kappa_d \mathbb{I}_n + \mathbf{N}_d",
            ),
        ),
    ),
    Erratum(
        id="collapse-17",
        paper="collapse",
        place="C.1, list of figures",
        printed="Figure 11: DenseNet40 trained on CIFAR10",
        corrected="Figure 20: DenseNet40 trained on CIFAR10",
        kind="misprint",
        evidence="The list of kernel figures runs from Figure 13 to 19 before it, "
        "and Figure 20 shows the kernels of this network.",
        quotes=(Quote(text="thesis", line=3086, words="Figure 11: DenseNet40 trained on CIFAR10"),),
    ),
    Erratum(
        id="collapse-21",
        paper="collapse",
        place="section 2.1, matrix M",
        printed="M = [⟨h̄⟩₁/|⟨h̄⟩₁|, …, ⟨h̄⟩_C/|⟨h̄⟩_C|]ᵀ ∈ ℝ^{n×C}",
        corrected="without the transpose: the class means are the columns",
        kind="misprint",
        evidence="A vector of features has n entries, and (NC2), (NC3) need n × C.",
        quotes=(
            Quote(
                text="thesis",
                line=2502,
                words=r"\langle \bar{h} \rangle_C / \|\langle \bar{h} \rangle_C\|_2]^\top \in "
                r"\mathbb{R}^{n \times C}",
            ),
        ),
    ),
    Erratum(
        id="collapse-22",
        paper="collapse",
        place="appendix C, compute",
        printed="one needs to compute C(C + 1) + n(n + 1) kernels",
        corrected="C(C + 1)/2 + n(n + 1)/2: Θ_sk is the transpose of Θ_ks",
        kind="misprint",
        evidence="All pairs are listed.",
        check=number_of_kernels,
        quotes=(
            Quote(
                text="thesis", line=3057, words="one needs to compute $C(C + 1) + n(n + 1)$ kernels"
            ),
        ),
    ),
    Erratum(
        id="collapse-23",
        paper="collapse",
        place="appendix C, compute",
        printed="panes f-h: approximately 1350 computational hours",
        corrected="1,695: for three initialisations 70 × 1.5 of ResNet20, 60 × 3 of DenseNet40 and "
        "70 × 4 of VGG are 315 + 540 + 840",
        kind="misprint",
        evidence="The hours and the numbers of rates that the appendix gives. The 312 hours of "
        "panes a-e are right for three initialisations, too.",
        quotes=(
            Quote(
                text="thesis",
                line=3059,
                words="which adds up to approximately 1350 computational hours",
            ),
        ),
    ),
    Erratum(
        id="collapse-24",
        paper="collapse",
        place="Figure 15, caption",
        printed="VGG11 trained on CIFAR10",
        corrected="VGG16 trained on CIFAR10",
        kind="misprint",
        evidence="The list of figures in C.1 has VGG16, as the caption of Figure 5, the same "
        "network.",
        quotes=(
            Quote(
                text="thesis",
                line=3231,
                words="Figure 15: NTK block structure of VGG11 trained on CIFAR10",
            ),
        ),
    ),
)
