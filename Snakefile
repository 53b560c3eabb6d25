# Every numbered table and figure of five papers on finite-width networks.
#
#   snakemake --cores 8                          all artifacts, preset quick
#   snakemake --cores 8 npf_fig3                 one artifact; npf: one paper
#   snakemake --cores 8 --config preset=laptop   another preset
#
# workflow/papers/<paper>.yaml declares the trainings, experiments and artifacts of a paper. The name
# of an artifact is the name of its rule. It names its experiments and its renderer.
from finitewidth.settings.presets import completed
from snakemake.utils import min_version

min_version("9.25")

# not basedir, which a module shares with its user
project = str(workflow.current_basedir)
config.update(completed(config, f"{project}/config"))


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/papers.smk"
include: "workflow/rules/errata.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/captions.smk"
include: "workflow/rules/datapackages.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/scheduling.smk"  # sees all rules before it


rule all:
    default_target: True
    input:
        plan.targets(),
        plan.captions(),
        rules.datapackages.output,
        plan.verdicts(),
        plan.errata,
        rules.report.output,
    localrule: True
