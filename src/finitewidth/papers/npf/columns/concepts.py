"""Columns of what explains the paper: toy network, blocks, layouts of paths, copies of gates."""

from finitewidth.records.tables import integer, number, text

# What explains the paper: the toy network of Figure 1
KIND = text("kind", "node or edge")
LAYER = integer("layer", "layer of the node, 0 for the inputs; an edge belongs to where it ends")
END = integer("end", "unit of the layer, from 1; of an edge the unit at which it ends")
START = number(
    "start", "unit of the layer before at which an edge starts, from 1", missing="a node"
)
ACTIVE = tuple(
    integer(
        f"active_{example}",
        f"gate of the node for example {example}, or 1 if the edge lies on an active path, else 0",
    )
    for example in (1, 2, 3)
)
PATH = integer("path", "number of the path, in lexicographic order, from 1")
LAYERS_OF_PATH = tuple(
    integer(f"layer_{layer}", f"unit of the path in layer {layer}, from 1") for layer in (0, 1, 2)
)
ACTIVE_PATHS = tuple(
    integer(f"active_{example}", f"1 if all gates on the path are open for example {example}")
    for example in (1, 2, 3)
)
S = integer("s", "number of an example, from 1")
S_PRIME = integer("s_prime", "number of another example, or the same, from 1")
OVERLAP = number("overlap", "Lambda(s, s'), shared active paths over the number of inputs")
SHARED = text(
    "shared", "numbers of the paths that are active for both", missing="no path is active for both"
)

# Figure 2: blocks of the deep gated network
BLOCK = text("kind", "node; forward, gate or gradient (arrows); or regime")
BLOCK_NAME = text("name", "name of a node or a regime", missing="an arrow")
BLOCK_NETWORK = text(
    "network",
    "network that the row belongs to, of a regime those that learn",
    missing="the input, or no network learns",
)
BLOCK_LAYER = text("layer", "layer of a node, in symbols", missing="no node")
LABEL = text("label", "formula in LaTeX; of a regime its gates: hard or soft")
BLOCK_START = text(
    "start",
    "node at which an arrow starts; of a regime how its feature network starts",
    missing="a node",
)
BLOCK_END = text("end", "node or network at which an arrow ends", missing="no arrow")

# Figure 4 and Table 3: layouts of four paths through a layer
LAYOUT = text("layout", "letter of the layout, as in npf Table 3")
STARTS = integer("starts", "number of different nodes at which the four paths enter the layer")
ENDS = integer("ends", "number of different nodes at which they leave it")
WEIGHTS = integer("weights", "number of different weights that they take")
WAYS = integer("ways", "number of ways in which four paths can have this layout")
NODES = integer("nodes", "number of nodes on either side of the layer")
PATH_OF_FOUR = integer("path", "number of the path, from 1 to 4")
PATH_START = integer("start", "node at which the path enters the layer, from 1")
PATH_END = integer("end", "node at which the path leaves the layer, from 1")
NEXT = text("next", "letter of a layout that the next layer may have")
SUCCESSIONS = integer("pairs", "number of pairs of ways, in this layer and the next")

# Figure 5: copies of gates
PADDED_LAYER = integer("layer", "hidden layer, from 1")
PADDED_UNIT = integer("unit", "unit of the layer of the value network, from 1")
COPY = integer("copy", "copy k of the gates that the unit belongs to, from 0")
GATE = integer("gate", "unit of the feature network whose gate the unit uses, from 1")

# The data file of Figure 1
KIND_SHOWN = text(
    "kind",
    "what the row describes: node, edge, path (one unit of it), gate, active edge, active path, "
    "overlap or shared path",
)
LAYER_SHOWN = number(
    "layer",
    "layer, 0 for the inputs; an edge belongs to the layer that it enters",
    missing="a path as a whole, or an overlap",
)
START_SHOWN = number(
    "start", "unit of the layer before at which an edge starts, from 1", missing="no edge"
)
UNIT_SHOWN = number(
    "unit",
    "unit of the layer, from 1; for an edge the unit at which it ends",
    missing="a path as a whole, or an overlap",
)
PATH_SHOWN = number("path", "number of the path, from 1", missing="no path")
EXAMPLE = number("example", "number s of the example, from 1", missing="the row is of all examples")
OTHER_EXAMPLE = number(
    "other", "number s' of the other example of a pair, from 1", missing="the row is of no pair"
)
GATE_OR_OVERLAP = number(
    "value",
    "gate, or whether an edge or a path is active (0 or 1); or the entry Lambda(s, s')",
    missing="a node, an edge, a unit of a path, or a shared path",
)

# The data file of Figure 2
BLOCK_SHOWN = text("kind", "node, forward, gate or gradient (arrows), equation or regime")
NAME_SHOWN = text("name", "name of a node, an equation or a regime; none for an arrow")
NETWORK_SHOWN = text(
    "network", "network that the row belongs to; for a regime the networks that learn"
)
BLOCK_LAYER_SHOWN = text("layer", "layer of a node, in symbols; none for others")
BLOCK_START_SHOWN = text("start", "node at which an arrow starts; none for others")
BLOCK_END_SHOWN = text(
    "end", "node, or network for gradients, at which an arrow ends; none for others"
)
FORMULA = text("formula", "formula of a node, an arrow or an equation, in LaTeX; none for a regime")
HARD_OR_SOFT = text("gates", "gates of a regime: hard or soft; none for others")
INITIALISED = text("initialised", "how the feature network of a regime starts; none for others")

# The data file of Figure 4
FOLLOWING = text("next", "letters of the layouts that may follow in the next layer")
