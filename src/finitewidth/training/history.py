"""The history of a stack of networks: a row for each epoch of each replica."""

from finitewidth.declarations import columns
from finitewidth.records.tables import Table

HISTORY = Table(
    columns.ROW,
    columns.REGIME,
    columns.STAGE,
    columns.BETA,
    columns.EPS,
    columns.VARIANT,
    columns.SEED,
    columns.STEP_SIZE,
    columns.EPOCH,
    columns.TRAIN_LOSS,
    columns.TRAIN_ACCURACY,
    columns.TEST_LOSS,
    columns.TEST_ACCURACY,
    columns.TEST_ACCURACY_FIRST,
    columns.TEST_ACCURACY_SECOND,
    columns.DIVERGED_IN_EPOCH,
)
