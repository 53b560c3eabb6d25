# Every numbered table and figure of five papers on finite-width networks.
#
#   snakemake --cores 8                          all artifacts, preset quick
#   snakemake --cores 8 npf_fig3                 one artifact; npf: one paper
#   snakemake --cores 8 --config preset=laptop   another preset
#
# An artifact's id (config/artifacts.tsv) is the name of its rule in workflow/rules/<paper>*.smk.
# The rule names its renderer and, by its inputs, its experiments.
from snakemake.utils import min_version

from finitewidth.common.settings import preset_file

min_version("9.25")


configfile: "config/config.yaml"
configfile: "config/papers/npf.yaml"
configfile: "config/papers/dgn.yaml"
configfile: "config/papers/trust.yaml"
configfile: "config/papers/beyond.yaml"
configfile: preset_file(config, "config")


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/artifacts.smk"
include: "workflow/rules/npf.smk"
include: "workflow/rules/npf_concepts.smk"
include: "workflow/rules/dgn.smk"
include: "workflow/rules/trust.smk"
include: "workflow/rules/beyond.smk"
include: "workflow/rules/errata.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/plan.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/cluster.smk"  # the last: it sees all rules before it


rule all:
    default_target: True
    input:
        plan.targets(),
        plan.verdicts(),
        plan.errata(),
        rules.report.output,
    localrule: True
