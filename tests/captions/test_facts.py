"""A sentence about what is to be seen stands in a caption only if the tables show it."""

import numpy as np
import pandas as pd
import pytest
from tests.captions import synthetic_collapse, synthetic_collapse_flow
from tests.captions.literals import inspect
from tests.captions.rendering import caption_of, refuse_flaws, template_of
from tests.captions.synthetic import TABLES

from finitewidth.captions.facts import facts_of, function_of
from finitewidth.common.declarations import artifacts_of, done, read_papers

# what a caption says if the tables show it, and does not say if they do not
SEEN = {
    "beyond_fig1": ["lie below the exact value", "the errors partly cancel"],
    "beyond_fig2": ["both exact curves reach a peak within", "Only the larger sample shows"],
    "beyond_fig3": ["all curves end with a rise", "then rise again", "Equation 18 is not a lower"],
    "beyond_fig4": [
        "grows at every variance, from 0.02 at the start to 0.69, 0.35 and 0.29 after 60 steps",
        "is done after 10 steps", "The larger this distance, the smaller the median test loss",
        "All networks are trained: at the end at least 99.3 %",
    ],
    "beyond_fig5": ["The corrected limits are larger", "have the same order"],
    "beyond_fig6": ["at every weight variance below", "constant width have the lowest"],
    "beyond_fig7": ["this factor grows with depth", "The deepest points are uncertain"],
    "beyond_fig8": ["Deeper points are more uncertain"],
    "beyond_fig9": ["Bootstrap errors would be too small"],
    "beyond_fig11": ["The distance grows with depth"],
    "beyond_extra_theorem31": [
        "is larger than the printed limit", "come closer to the corrected limit", "agree with the",
        "they lie above the sums that Theorem 3.2 prints",
    ],
    "beyond_extra_shapes": [
        "a range around the edge of chaos, at 30 layers from a weight variance of 1.9 to 2.1",
        "they have it at none of 15 points", "than constant networks also at 3 of 6 points",
        "At the edge and above it", "only layers near the output count", "is 2.8 in the growing",
    ],
    "trust_fig1": [
        "the ratio grows with depth", "On the border of ReLU networks at", "Hatched: 12 cells",
    ],
    "trust_fig2": [
        "falls with the width", "the ratio grows with depth", "mostly too low", "limit 4.50",
    ],
    "trust_fig5": ["come together with depth"],
    "trust_fig6": ["the ratio tends to 1", "but grows to"],
    "trust_fig7": ["border moves to larger", "it stays at 2", "is exact and needs no draws"],
    "dgn_fig1": ["At every depth it is closer", "it is largest at depth 12"],
    "dgn_fig2": ["at all 6 depths", "The scatter grows with depth"],
    "dgn_fig3": ["only up to a point", "turn sooner", "is most even at depth 8"],
    "dgn_fig4": ["smaller error at all 6 depths"],
    "dgn_fig5": ["in some run: GaLU, random labels."],
    "dgn_fig7": ["in some run: GaLU."],
    "dgn_fig8": ["in some run: soft-GaLU."],
    "dgn_table4": [
        "does not fit its training images either", "of epsilon 0.1 and beta 16.",
    ],
    "dgn_extra_text": ["A dagger marks numbers"],
    "dgn_fig6": ["The mean falls from 90"],
    "dgn_fig9": ["which start from different inputs"],
    "dgn_fig10": ["sooner than the dotted line", "the more its kernel grows"],
    "dgn_extra_identities": ["The samples agree with the stated means"],
    "npf_fig3": ["with the gates of the last stage", "falls from 90 to 40"],
    "npf0_fig3": ["with the gates of the last stage", "falls from 90 to 40"],
    "npf_fig6": ["Deeper networks come closer to the identity"],
    "npf_fig7": ["middle depth converge best", "faster than a constant kernel would"],
    "npf0_table2": ["(the others: GCONV with Adam, DLNPF and GCONV with Adam, ReLU)"],
    "npf_extra_cntk": ["the mean accuracy of ReLU is above it"],
    "npf_extra_energy": ["Training moves the labels", "nu_t falls", "holds only"],
    "npf_extra_limits": ["at most 0.0 standard errors from 1", "do not tell the combinations"],
    "npf_extra_theory": ["the errors fall with", "the errors stay", "its growth slows down"],
    "thesis_fig2_3": [
        "falls with every degree, from 0.5 to 0.1", "falls up to degree 1",
        "more than 100 times the median",
    ],
    "thesis_fig2_4": [
        "means agree with the exact means", "as many parameters as samples",
        "larger than the limit, by",
        "negative, which no risk can be, up to a ratio of 2", "is lowest at a ratio of 2",
        "it falls throughout",
    ],
    "thesis_fig2_5": ["these are 1.09 and 0.40: blocks of classes have formed"],
}  # fmt: skip
TRAINED = {
    (3, 4): [
        "is 0.06 in the ordered phase", "In the chaotic phase the change grows with depth",
        "Hatched: the", "made many steps together", "At this depth the lowest loss is",
        "so they are not trained",
    ],
    (8, 9): ["chaotic networks change early", "keeps its last value"],
    (10, 11): ["falls from width to width", "A cross marks", "At every width deep chaotic"],
}  # fmt: skip
SEEN["trust_extra_scaled"] = [
    "it is the common rate that keeps", "an effect of the common rate",
    "kernels of chaotic networks change more",
]  # fmt: skip
SEEN |= synthetic_collapse.SEEN | synthetic_collapse_flow.SEEN
SEEN |= {f"trust_fig{number}": said for numbers, said in TRAINED.items() for number in numbers}
PLAIN = (bool, int, float, str, type(None))


def flat(text):
    """Without line breaks."""
    return " ".join(text.split())


def test_all_captions_with_facts_are_tried():
    finished = [one.artifact for one in done(artifacts_of(read_papers()))]
    assert set(TABLES) == {name for name in finished if function_of(name)}


@pytest.mark.parametrize("artifact", TABLES)
@pytest.mark.parametrize("effect", [True, False])
def test_a_caption_renders_whether_or_not_there_is_an_effect(artifact, effect):
    refuse_flaws(caption_of(artifact, TABLES[artifact](effect)))


@pytest.mark.parametrize("artifact", SEEN)
def test_a_sentence_stands_only_where_the_tables_show_it(artifact):
    shown, other = (flat(caption_of(artifact, TABLES[artifact](e))) for e in (True, False))
    for sentence in SEEN[artifact]:
        assert sentence in shown
        assert sentence not in other


@pytest.mark.parametrize(("artifact", "claim", "sentence"), [
    ("trust_fig1", "T04", "sharpens as the width grows"),
    ("trust_fig7", "T08", "the narrower the transition"),
    ("dgn_fig9", "D25", "does not change when an input is shifted"),
])  # fmt: skip
def test_a_sentence_that_rests_on_a_claim_stands_only_where_it_is_supported(
    artifact, claim, sentence
):
    for verdict in ("supported", "contradicted", "inconclusive", "not decidable at this preset"):
        caption = flat(caption_of(artifact, TABLES[artifact](True), {claim: verdict}))
        assert (sentence in caption) == (verdict == "supported")


@pytest.mark.parametrize("artifact", TABLES)
def test_every_fact_is_there_whatever_the_tables_show(artifact):
    names = [set(facts_of(artifact, TABLES[artifact](effect))) for effect in (True, False)]
    assert names[0] == names[1]
    assert inspect(template_of(artifact)).facts <= names[0]


@pytest.mark.parametrize("artifact", TABLES)
def test_facts_are_plain_values_and_tables_stay_as_they_are(artifact):
    tables = TABLES[artifact](True)
    kept = {name: rows.copy() for name, rows in tables.items()}
    for value in facts_of(artifact, tables).values():
        parts = value if isinstance(value, (list, tuple)) else [value]
        assert all(type(part) in PLAIN for part in parts), value
        assert not any(isinstance(part, float) and np.isnan(part) for part in parts)
    for name, rows in tables.items():
        pd.testing.assert_frame_equal(rows, kept[name])


# columns of settings: a run may have a single value of each, in all tables
SETTINGS = (
    "width", "alpha_0", "sigma_w2", "sigma_b2", "cosine", "covariance", "depth", "activation",
    "phase", "sample", "beta", "regime", "lambda",
)  # fmt: skip
# columns of which a value may be lost in one table alone, if all its runs diverge
LOST = ("network", "dynamics", "depth", "series")


def thinned(columns):
    """Artifact, column and one of its values; of many the first and the last."""
    for artifact, make in TABLES.items():
        tables = make(True)
        for column in columns:
            found = [rows[column].dropna() for rows in tables.values() if column in rows]
            values = [v for v in pd.concat(found).unique() if v != 0] if found else []
            chosen = values if len(values) <= 4 else (values[0], values[-1])
            for value in chosen if len(values) > 1 else ():
                yield artifact, column, value


def keep(rows, column, value):
    """The rows with a value; all rows of a table, or of a group in it, that has not the value.

    A missing value, and a width of 0, belong to rows without that setting.
    """
    if column not in rows:
        return rows
    groups = [own for _, own in rows.groupby("group")] if "group" in rows else [rows]
    kept = [
        own[
            (own[column] == value) | own[column].isna() | ((column == "width") & (own[column] == 0))
        ]
        if value in set(own[column])
        else own
        for own in groups
    ]
    return pd.concat(kept, ignore_index=True)


@pytest.mark.parametrize(("artifact", "column", "value"), list(thinned(SETTINGS)))
def test_a_caption_renders_where_a_setting_has_a_single_value(artifact, column, value):
    tables = TABLES[artifact](True)
    for name in set(tables) - {"borders"}:  # whose weight variances are results
        tables[name] = keep(tables[name], column, value)
    refuse_flaws(caption_of(artifact, tables))


@pytest.mark.parametrize(
    ("artifact", "column", "value"),
    [case for case in thinned(LOST) if case[0].startswith(("dgn_fig", "npf_fig"))],
)
def test_a_caption_renders_where_curves_are_lost(artifact, column, value):
    tables = TABLES[artifact](True)
    for name, rows in tables.items():
        if column in rows:
            lost = {**tables, name: rows[rows[column] != value]}
            refuse_flaws(caption_of(artifact, lost))
