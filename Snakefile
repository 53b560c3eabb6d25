# Every numbered table and figure of five papers on finite-width networks.
#
#   snakemake --cores 8                          all artifacts, preset quick
#   snakemake --cores 8 npf_fig3                 one artifact; npf: one paper
#   snakemake --cores 8 --config preset=laptop   another preset
#   finitewidth show npf_fig3                    its rules with their files, and all rules behind it
#
# A stage of the work is a file of rules. Each stage reads the results of those above it:
#
#   data         datasets, bundled, fetched or of the user
#   training     networks: ReLU, FRNPF-II, FRNPF-DI, DLNPF, FLNPF and others
#   sampling     random networks at initialisation, by Monte Carlo
#   theory       formulas and limits, without random numbers
#   evaluation   kernels and accuracies of the trained networks
#   figures, tables                        the artifacts, from the tables of the four stages above
#   claims, errata                         do the papers hold? what is misprinted?
#   captions, datapackages, report         texts beside the artifacts
#
# workflow/papers/<paper>.yaml declares the experiments and artifacts of a paper: the input, the params
# and the output of each. The name of an experiment or an artifact is the name of its rule.
from finitewidth.settings.presets import completed
from snakemake.utils import min_version

min_version("9.25")

# not basedir, which a module shares with its user
project = str(workflow.current_basedir)
config.update(completed(config, f"{project}/config"))


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/sampling.smk"
include: "workflow/rules/theory.smk"
include: "workflow/rules/evaluation.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/errata.smk"
include: "workflow/rules/captions.smk"
include: "workflow/rules/datapackages.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/papers.smk"
include: "workflow/rules/defaults.smk"  # sees all rules before it


rule all:
    """All artifacts, verdicts and captions, and the report"""
    default_target: True
    input:
        plan.files.targets(),
        plan.files.captions(),
        rules.datapackages.output,
        plan.files.verdicts(),
        plan.files.errata,
        rules.report.output,
    localrule: True
