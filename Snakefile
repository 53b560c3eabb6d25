# Every numbered table and figure of five papers on finite-width networks.
#
#   snakemake --cores 8                          all artifacts, preset quick
#   snakemake --cores 8 npf_fig3                 one artifact; npf: one paper
#   snakemake --cores 8 --config preset=laptop   another preset
#
# workflow/papers/<paper>.yaml declares the trainings, experiments and artifacts of a paper. The name
# of an artifact is the name of its rule. It names its experiments and its renderer.
from finitewidth.common.declarations import paper_names
from finitewidth.common.settings import merged, preset_file, preset_only
from snakemake.utils import min_version

min_version("9.25")

# not basedir, which a module shares with its user
project = str(workflow.current_basedir)


configfile: "config/config.yaml"


config.setdefault("preset", "quick")  # as a module it reads no file of settings
for paper in paper_names(f"{project}/workflow/papers"):
    if os.path.exists(f"{project}/config/papers/{paper}.yaml"):

        configfile: f"config/papers/{paper}.yaml"


configfile: preset_file(config, "config")


config.update(merged(preset_only(config["preset"], f"{project}/config"), config))


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
