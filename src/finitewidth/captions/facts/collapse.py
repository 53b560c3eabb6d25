"""Facts of the captions of ``collapse``, one function for each artifact."""

from finitewidth.captions.facts import collapse_flow, collapse_networks

collapse_fig2 = collapse_fig3 = collapse_fig4 = collapse_fig5 = collapse_networks.invariant
collapse_fig6 = collapse_fig7 = collapse_fig8 = collapse_fig9 = collapse_networks.invariant
collapse_fig10 = collapse_fig11 = collapse_fig12 = collapse_networks.invariant
collapse_fig1 = collapse_fig13 = collapse_fig14 = collapse_fig15 = collapse_networks.blocks
collapse_fig16 = collapse_fig17 = collapse_fig18 = collapse_networks.blocks
collapse_fig19 = collapse_fig20 = collapse_networks.blocks
collapse_extra_decay = collapse_networks.decay
collapse_table1 = collapse_flow.table1
collapse_extra_flow = collapse_flow.flow
