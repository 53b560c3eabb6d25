"""Errata of ``collapse`` in limits: equal biases, the remark on α, the definition of collapse."""

import numpy as np

from finitewidth.common.texts import Quote
from finitewidth.errata.erratum import Erratum, Evidence, exactly, extrapolated
from finitewidth.errata.networks import generator

CLASSES, ALPHA, BETA = 4, 0.15, 0.1
ONES, EYE = np.ones((CLASSES, CLASSES)), np.eye(CLASSES)


def root(matrix: np.ndarray) -> np.ndarray:
    """The positive semidefinite square root of a symmetric matrix."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return vectors @ np.diag(np.sqrt(np.maximum(values, 0))) @ vectors.T


def angle_of_weights() -> Evidence:
    """γ from the square root of the right side of (29) with equal biases."""
    biases = np.full((CLASSES, 1), BETA)
    mixed = biases @ np.ones((1, CLASSES))
    square = EYE - ALPHA * ONES
    square = square + (1 - ALPHA * CLASSES) * (CLASSES * biases @ biases.T - mixed - mixed.T)
    shrink = np.sqrt(1 - ALPHA * CLASSES)
    forms = ((1 - abs(part) * shrink) / CLASSES for part in (BETA * CLASSES, 1 - BETA * CLASSES))
    return exactly("γ at C = 4, α = 0.15, β = 0.1", -root(square)[0, 1], *forms)


def second_of_squares() -> Evidence:
    """The second line of (56) for W H₁ = I - 1 1ᵀ/C."""
    rng = generator("collapse-9")
    m, eigenvalue = 3, 1.4
    weights = rng.standard_normal((CLASSES, 6))
    centring = EYE - ONES / CLASSES
    means = np.linalg.pinv(weights) @ centring
    whole = weights @ (eigenvalue * weights.T @ weights - m * means @ means.T) @ weights.T
    gram = weights @ weights.T
    forms = ((eigenvalue * gram @ gram - factor * centring @ centring)[0, 0] for factor in (1, m))
    return exactly("entry (1, 1) of (56), line 2; C = 4, m = 3, λ̃ = 1.4", whole[0, 0], *forms)


def inverse_matrix() -> Evidence:
    """An off-diagonal entry of the inverse of I - φ 1 1ᵀ."""
    phi = (1 - np.sqrt(1 - ALPHA * CLASSES)) / CLASSES
    truth = np.linalg.inv(EYE - phi * ONES)[0, 1]
    forms = (-phi / (1 + phi * CLASSES), phi / (1 - phi * CLASSES))
    return exactly("entry (1, 2) of (𝕀 − φ 11ᵀ)⁻¹ at C = 4, α = 0.15", truth, *forms)


def angle_of_means() -> Evidence:
    """θ from the positive solution of (64)."""
    half = root(EYE - ALPHA * ONES)
    inner = half @ np.linalg.matrix_power(EYE - BETA * ONES, 2) @ half
    inverse = np.linalg.inv(half)
    solution = inverse @ root(inner) @ inverse
    shrink = np.sqrt(1 - ALPHA * CLASSES)
    forms = (
        (1 - abs(1 - BETA * CLASSES) / denominator) / CLASSES
        for denominator in (2 - shrink, shrink)
    )
    return exactly("θ at C = 4, α = 0.15, β = 0.1", -solution[0, 1], *forms)


def centred_means() -> Evidence:
    """MᵀM from (63) at α = 1/C with arbitrary biases: its square is P (63) P, P = I - 1 1ᵀ/C."""
    ratio = 2.5
    biases = generator("collapse-12").standard_normal((CLASSES, 1))
    mixed = biases @ np.ones((1, CLASSES))
    square = ratio * (EYE - mixed - mixed.T + (biases**2).sum() * ONES)
    centring = EYE - ONES / CLASSES
    truth = root(centring @ square @ centring)[0, 0]
    forms = (factor * centring[0, 0] for factor in (ratio, ratio**0.5))
    return exactly("entry (1, 1) of MᵀM at α = 1/C, C = 4, μ_class/m = 2.5", truth, *forms)


def distance_of_means() -> Evidence:
    """Squared distance of two class means whose Gram matrix is given by (58)."""
    ratio = 1.7
    means = root(ratio**0.5 * (EYE - ONES / CLASSES))
    truth = float(((means[:, 0] - means[:, 1]) ** 2).sum())
    quantity = "|⟨h⟩₁ − ⟨h⟩₂|² where (58) holds, C = 4, λ̃_c/m = 1.7"
    return exactly(quantity, truth, 0.0, 2 * ratio**0.5)


def many_classes() -> Evidence:
    """αC from 1 − αC, an eigenvalue of (𝕀 + κ_n m/μ_class 11ᵀ)⁻¹, for ever more classes."""
    m, kappa_d, kappa_c, kappa_n = 12, 5.0, 3.0, 1.0
    mu_class = kappa_d - kappa_c + m * (kappa_c - kappa_n)
    values = []
    for classes in (64, 128, 256, 512, 1024):
        ones = np.ones((classes, classes))
        values.append(np.linalg.solve(np.eye(classes) + kappa_n * m / mu_class * ones, ones[0])[0])
    limit, error = extrapolated(values)
    quantity = "lim αC as C → ∞, κ_c/κ_n = 3, κ_d/κ_n = 5, m = 12"
    return Evidence(quantity, 1 - limit, error, 0.0, 1.0)


ERRATA = (
    Erratum(
        id="collapse-7",
        paper="collapse",
        place="after (30)",
        printed="γ := (1/C) (1 − |βC| √(1 − αC))",
        corrected="γ = (1/C) (1 − |1 − βC| √(1 − αC)), as in (68)",
        kind="misprint",
        evidence="Square root of the right side of (29) at equal biases.",
        check=angle_of_weights,
        quotes=(
            Quote(
                text="thesis",
                line=2714,
                words=r"\gamma := \frac{1}{C}(1 - |\beta C| \sqrt{1 - \alpha C})",
            ),
        ),
    ),
    Erratum(
        id="collapse-8",
        paper="collapse",
        place="(NC2), first condition",
        printed="‖⟨h⟩_c − ⟨h⟩_c′‖₂ → 0",
        corrected="‖⟨h⟩_c − ⟨h⟩‖₂ − ‖⟨h⟩_c′ − ⟨h⟩‖₂ → 0: the norms of the centred class means "
        "become equal; by (58) the means themselves keep the squared distance 2√(λ̃_c/m)",
        kind="misprint",
        evidence="Vectors with the Gram matrix of (58). "
        "The second condition beside it excludes class means that become equal.",
        check=distance_of_means,
        quotes=(
            Quote(
                text="thesis",
                line=2508,
                words=r"\|\langle h \rangle_c - \langle h \rangle_{c'}\|_2 \rightarrow 0",
            ),
        ),
    ),
    Erratum(
        id="collapse-9",
        paper="collapse",
        place="(57), second line",
        printed="λ̃_c (WWᵀ)² − (𝕀 − β11ᵀ)² → 0",
        corrected="λ̃_c (WWᵀ)² − m (𝕀 − β11ᵀ)² → 0, as in (58)",
        kind="misprint",
        evidence="The second line of (56) where (53) holds.",
        check=second_of_squares,
        quotes=(
            Quote(
                text="thesis",
                line=2977,
                words=r"\tilde{\lambda}_c (\mathbf{W} \mathbf{W}^\top)^2 - (\mathbb{I}_C - \beta",
            ),
        ),
    ),
    Erratum(
        id="collapse-10",
        paper="collapse",
        place="(66), second factor",
        printed="H₁ᵀH₁ → √(μ_class/m) (𝕀 − ρ̃ 11ᵀ) (𝕀 − φ/(1 + φC) 11ᵀ)",
        corrected="the second factor is 𝕀 + φ/(1 − φC) 11ᵀ, the inverse of 𝕀 − φ11ᵀ in (65)",
        kind="wrong result",
        evidence="The matrix in (65) is inverted numerically. "
        "The θ of collapse-11 follows from this step.",
        check=inverse_matrix,
        quotes=(
            Quote(
                text="thesis",
                line=3029,
                words=r"\left(\mathbb{I}_C - \frac{\phi}{1 + \phi C}\mathbf{1}_C"
                r"\mathbf{1}_C^\top\right)",
            ),
        ),
    ),
    Erratum(
        id="collapse-11",
        paper="collapse",
        place="(66), (68), θ",
        printed="θ = (1/C) (1 − |1 − βC| / (2 − √(1 − αC)))",
        corrected="θ = (1/C) (1 − |1 − βC| / √(1 − αC)), which may be negative",
        kind="wrong result",
        evidence="The positive solution of (64).",
        check=angle_of_means,
        quotes=(
            Quote(
                text="thesis",
                line=3039,
                words=r"\theta = \frac{1}{C}\left(1 - \frac{|1 - \beta C|}{2 - \sqrt{1 - \alpha C}}"
                r"\right)",
            ),
            Quote(
                text="thesis",
                line=3031,
                words=r"\theta := \tilde{\rho} + \phi/(1 + \phi C) - "
                r"C\tilde{\rho}\phi/(1 + \phi C)",
            ),
        ),
        claims=("K08",),
    ),
    Erratum(
        id="collapse-12",
        paper="collapse",
        place="(70)",
        printed="MᵀM → (μ_class/m) (𝕀 − (1/C) 11ᵀ)",
        corrected="MᵀM → √(μ_class/m) (𝕀 − (1/C) 11ᵀ), as in (67)",
        kind="misprint",
        evidence="(63) at α = 1/C, centred on both sides, is (MᵀM)²; its root is taken.",
        check=centred_means,
        quotes=(
            Quote(
                text="thesis",
                line=3049,
                words=r"\mathbf{M}^\top \mathbf{M} \rightarrow \frac{\mu_{\text{class}}}{m}",
            ),
        ),
    ),
    Erratum(
        id="collapse-13",
        paper="collapse",
        place="B.4, remark on α → 0",
        printed="γ and θ are equal at 1 − αC = 1; one can see that α → 0 if C → ∞",
        corrected="αC → 0 is needed. If C → ∞ at given κ, αC → 1: by (68), θ corrected, Cγ → 1 and "
        "Cθ → −∞ at a given βC other than 1; γ − θ vanishes only because both tend to 0",
        kind="imprecise remark",
        evidence="The inverse in B.2 that defines α, solved numerically and extrapolated. "
        "The printed value is what 1 − αC = 1 needs.",
        check=many_classes,
        quotes=(
            Quote(
                text="thesis", line=3045, words=r"$\alpha \rightarrow 0$ if $C \rightarrow \infty$"
            ),
        ),
    ),
    Erratum(
        id="collapse-20",
        paper="collapse",
        place="B.4, after (68)",
        printed="γ and θ are equal only if α = 0",
        corrected="only if α = 0 or β = 1/C, where both are 1/C",
        kind="imprecise remark",
        evidence="The factor |1 − βC| in both.",
        quotes=(
            Quote(
                text="thesis",
                line=3041,
                words=r"they are equal only if $1 - \alpha C = 1$, i.e. $\alpha = 0$",
            ),
        ),
    ),
)
