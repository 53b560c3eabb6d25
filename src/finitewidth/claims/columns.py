"""The columns of the tables that judge a paper: verdicts, comparisons and printed numbers."""

from finitewidth.records.tables import Table, flag, integer, number, text

CLAIM = text("claim", "name of the claim")

# of a verdict
UNDECIDED = "no comparison decided the verdict"
VERDICTS = Table(
    CLAIM,
    text("paper", "paper that makes the claim"),
    text("place", "where the paper makes it"),
    text("kind", "theorem, bound, observation or hedged observation"),
    text("statement", "what the paper claims, in our words"),
    text("hedge", "words of the paper that limit the statement", missing="it has none"),
    text("sizes", "sizes that the paper speaks about", missing="it names none"),
    text("rule", "when the claim counts as supported: statistic and threshold, in words"),
    text("artifacts", "figures and tables that show the claim", missing="none shows it"),
    text("tables", "files that the claim was judged from", missing="no experiment makes any"),
    text("preset", "preset of the run"),
    text("context", "preset, data and numbers of runs, in words", missing="not judged"),
    text("grade", "what evidence the tables are", missing="not judged"),
    text("verdict", "the verdict on the claim"),
    text("reason", "how many comparisons hold, fail or are undecided, or what is needed"),
    text("caveat", "what limits the verdict", missing="nothing limits it"),
    integer("comparisons", "number of comparisons"),
    integer("failing", "number of comparisons that fail"),
    integer("undecided", "number of comparisons that are undecided"),
    number(
        "false_alarm", "bound on the probability that a claim that holds is called contradicted"
    ),
    text("statistic", "comparison that decided the verdict", missing=UNDECIDED),
    number("value", "estimate in this comparison", missing=UNDECIDED),
    number("low", "lower end of its 95 % interval", missing=UNDECIDED),
    number("high", "upper end of its 95 % interval", missing=UNDECIDED),
    text("threshold", "where the claim says that it lies, in words", missing=UNDECIDED),
    text("threshold_of", "whose threshold it is: the paper's or ours", missing=UNDECIDED),
    text("threshold_reason", "why the threshold or its range is ours", missing="it is not ours"),
    text("outcome", "holds, fails, undecided or not judged", missing=UNDECIDED),
    text("shown_in", "figures and tables that show this comparison", missing="all of its claim"),
)

# of a comparison
PARTS = Table(
    CLAIM,
    text("part", "what is compared"),
    number("value", "estimate of what is compared", missing="it is not defined"),
    number(
        "standard_error",
        "standard error of the estimate; 0 if it is computed exactly",
        missing="it is unknown, and nothing is decided",
    ),
    number("interval_low", "lower end of the 95 % interval", missing="the error is unknown"),
    number("interval_high", "upper end of the 95 % interval", missing="the error is unknown"),
    number("threshold_low", "the claim says that the value is not below this; -inf: no threshold"),
    number("threshold_high", "the claim says that the value is not above this; inf: no threshold"),
    flag("strict", "whether the thresholds themselves are excluded"),
    text("threshold_of", "whose threshold it is: the paper's or ours"),
    text(
        "reason",
        "why the threshold or its range is ours, or why the comparison cannot fail",
        missing="it is the paper's, and can fail",
    ),
    flag("late", "whether a threshold of ours was set after first results had been seen"),
    text(
        "outside",
        "why the sizes are not those that the paper speaks about",
        missing="they are those",
    ),
    number("p_outside", "one-sided p-value of the claim being wrong; small if it is supported"),
    number(
        "p_inside_holm",
        "p-value of the claim being right, with Holm's correction; small if it is contradicted",
    ),
    text("outcome", "holds, fails, undecided or not judged"),
)

# of a printed number
NO_NUMBER = "this run has no counterpart"
PRINTED = Table(
    text("artifact", "table or figure of the number; <paper>_text: it stands in the text"),
    text("quantity", "quantity of the number, as in config/reported"),
    text("row", "row of the table or point of the figure, as in config/reported"),
    text("column", "column of the table or curve of the figure, as in config/reported"),
    text("unit", "unit of the number, its errors and the difference"),
    text("place", "where the paper prints the number"),
    text("read_method", "printed, or read_off_figure"),
    text("printed", "the number as printed"),
    text("printed_spread", "spread or standard error as printed", missing="none is printed"),
    text("note", "misprints and disagreements", missing="there are none"),
)
COMPUTED = Table(
    text("kind", "constant, or measured"),
    number("ours", "our counterpart of the number", missing=NO_NUMBER),
    number(
        "standard_error",
        "standard error of our number; 0 if it is exact",
        missing=f"it is unknown, or {NO_NUMBER}",
    ),
    number(
        "runs",
        "number of runs that our number averages",
        missing=f"it averages none, or {NO_NUMBER}",
    ),
    number(
        "difference",
        "our number less the printed one; of losses, our logarithm less that of the printed one",
        missing=f"a loss is not above 0, or {NO_NUMBER}",
    ),
    number(
        "difference_low",
        "lower end of the 95 % interval of the difference",
        missing="its error is unknown",
    ),
    number(
        "difference_high",
        "upper end of the 95 % interval of the difference",
        missing="its error is unknown",
    ),
    number(
        "difference_se",
        "the difference in standard errors",
        missing="its error is unknown, or 0",
    ),
    number(
        "allowed",
        "largest difference with which both agree: the tolerance, or two standard errors",
        missing=f"the error is unknown, or {NO_NUMBER}",
    ),
    text("outcome", "outcome of the comparison, see docs/verdicts.md"),
    text(
        "why",
        "why both cannot be compared, or why a network is not trained",
        missing="they are compared, or there is no counterpart",
    ),
    text("differs", "what differs from the paper, in words", missing="nothing, or not run"),
    text("grade", "how good the evidence is", missing=NO_NUMBER),
    text("context", "preset, data and numbers of runs, in words", missing="not told"),
)
NUMBERS = Table(*PRINTED, *COMPUTED)
