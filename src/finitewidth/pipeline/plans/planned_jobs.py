"""The plan of every job of a run, by the kind of the job.

Imports no torch: Snakemake reads this at every start.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from finitewidth.claims import ledger
from finitewidth.data.places import tree_of
from finitewidth.declarations.paper_files import modules_of, text_file
from finitewidth.pipeline.folders import DATASETS
from finitewidth.pipeline.jobs import Job, makers_of
from finitewidth.pipeline.plan import Plan
from finitewidth.pipeline.plans.job_plan import JobPlan, plain
from finitewidth.pipeline.plans.job_plans import JobPlans
from finitewidth.records.code import Code, code_of, column_modules
from finitewidth.report.build import assets_digest

# kind of a job -> the module that its script calls
RUNNERS = {
    "experiment": "finitewidth.measures.job",
    "figure": "finitewidth.figures.job",
    "table": "finitewidth.tables.job",
}


def plans_of_jobs(plan: Plan) -> JobPlans:
    """The plans of all jobs of a run, to be compared with the results that there are."""
    rerun_packages = plan.config["rerun"] == "packages"
    return JobPlans(PlannedJobs(plan).job_plan, plan.root, rerun_packages)


class PlannedJobs:
    """Makes the plan of a job from its name."""

    def __init__(self, plan: Plan):
        self._plan = plan
        self._jobs = plan.jobs
        self._files = plan.files

    def job_plan(self, name: str) -> JobPlan:
        """The plan of a job, by its name (`finitewidth.pipeline.job_names`)."""
        if name == "errata":
            return self._errata_plan()
        if name == "datapackages":
            return self._packages_plan()
        if name == "report":
            return self._report_plan()
        if name.startswith("dataset "):
            return self._dataset_plan(name.removeprefix("dataset "))
        if name.startswith("claims "):
            return self._claims_plan(name.removeprefix("claims "))
        if name.startswith("captions_"):
            return self._captions_plan(name.removeprefix("captions_"))
        if self._jobs[name].kind == "training":
            return self._training_plan(self._jobs[name])
        if self._jobs[name].kind == "experiment":
            return self._experiment_plan(self._jobs[name])
        return self._artifact_plan(self._jobs[name])

    # --- the jobs of a paper ---------------------------------------------------------------------

    def _dataset_plan(self, source: str) -> JobPlan:
        name = f"dataset {source}"
        return JobPlan(
            name=name,
            provenance=self._files.provenance(name),
            outputs=[f"{DATASETS}/{source}.npz"],
            benchmark=self._files.benchmark(name),
            parameters={"tree": tree_of(source, self._plan.config["data"])},
            code=self._code_of("finitewidth.data.build", script="dataset"),
        )

    def _training_plan(self, job: Job) -> JobPlan:
        return self._plan_of_declared(
            job,
            parameters={"settings": job.params, "seed": self._plan.config["seed"]},
            code=self._code_of("finitewidth.training.job", script="train"),
        )

    def _experiment_plan(self, job: Job) -> JobPlan:
        module = self._jobs.experiments[job.name].module
        parameters = {
            "module": module,
            "settings": self._plan.evidence.params(job.name),
            "seed": self._plan.config["seed"],
        }
        code = self._code_of(module, RUNNERS[job.kind], script=job.kind)
        return self._plan_of_declared(job, parameters, code)

    def _artifact_plan(self, job: Job) -> JobPlan:
        module = self._jobs.artifacts[job.name].module
        parameters = {
            "module": module,
            "settings": self._plan.evidence.params(job.name),
            "footer": self._plan.footers.footer(job.name),
        }
        if job.kind == "figure":
            parameters["mark"] = self._plan.footers.mark(job.name)
        code = self._code_of(module, RUNNERS[job.kind], script=job.kind)
        return self._plan_of_declared(job, parameters, code)

    def _plan_of_declared(self, job: Job, parameters: dict[str, Any], code: Code) -> JobPlan:
        provenance = self._files.provenance(job.name)
        outputs = self._jobs.outputs(job.name).values()
        return JobPlan(
            name=job.name,
            provenance=provenance,
            outputs=[file for file in outputs if file != provenance],
            benchmark=self._files.benchmark(job.name),
            inputs=job.input_files,
            makers=makers_of(job.inputs),
            parameters=plain(parameters),
            code=code,
        )

    # --- the jobs after them ---------------------------------------------------------------------

    def _errata_plan(self) -> JobPlan:
        settings = {**self._plan.config["errata"], "papers": list(self._plan.paper_names)}
        return JobPlan(
            name="errata",
            provenance=self._files.provenance("errata"),
            outputs=[self._files.errata],
            benchmark=self._files.benchmark("errata"),
            parameters={
                "module": "finitewidth.errata.table",
                "seed": 0,  # errata are checked on the same networks whatever the base seed
                "settings": settings,
            },
            code=self._errata_code(),
        )

    def _claims_plan(self, paper: str) -> JobPlan:
        name = f"claims {paper}"
        claim_input = self._plan.claim_input
        modules = ledger.judging_modules(paper)
        return JobPlan(
            name=name,
            provenance=self._files.provenance(name),
            outputs=list(self._files.verdict_tables(paper).values()),
            benchmark=self._files.benchmark(name),
            inputs=claim_input.files(paper),
            makers=makers_of(claim_input.tables(paper)),
            parameters=plain({"settings": claim_input.settings(paper)}),
            code=self._code_of(*modules, "finitewidth.claims.job", script="claims"),
        )

    def _captions_plan(self, paper: str) -> JobPlan:
        name = f"captions_{paper}"
        caption_input = self._plan.caption_input
        makers = {}
        for judge in caption_input.judges_of(paper):
            makers[self._files.verdict_table(judge)] = f"claims {judge}"
        makers |= caption_input.data_files(paper)
        modules = caption_input.modules(paper)
        return JobPlan(
            name=name,
            provenance=self._files.provenance(name),
            outputs=self._files.captions(paper),
            benchmark=self._files.benchmark(name),
            inputs=caption_input.files(paper),
            makers=makers,
            parameters=plain({"captions": caption_input.settings(paper)}),
            code=self._code_of("finitewidth.claims.captions", *modules, script="captions"),
        )

    def _packages_plan(self) -> JobPlan:
        tables = {self._files.table(name): name for name in self._jobs.artifacts}
        headers = self._plan.report_input.headers()
        makers = {file: maker for file, maker in headers.items() if maker}
        makers |= tables
        experiment_tables = self._plan.report_input.experiment_tables()
        makers |= experiment_tables
        makers |= self._makers_of_captions()
        packages = self._plan.report_input.packages()
        modules = {entry.module for entry in self._plan.artifacts}
        modules |= {entry.module for entry in self._jobs.experiments.values()}
        modules |= set(column_modules(self._plan.paper_names))
        return JobPlan(
            name="datapackages",
            provenance=self._files.provenance("datapackages"),
            outputs=self._files.packages(),
            benchmark=self._files.benchmark("datapackages"),
            inputs={
                "tables": list(tables),
                "captions": self._files.captions(),
                "headers": list(headers),
                "experiments": list(experiment_tables),
            },
            makers=makers,
            parameters=plain({"packages": packages}),
            code=self._code_of(
                "finitewidth.report.datapackages", *sorted(modules), script="datapackages"
            ),
        )

    def _report_plan(self) -> JobPlan:
        makers = self._makers_of_the_report()
        texts = [text_file(paper, "statements") for paper in self._plan.paper_names]
        parameters = {
            "settings": self._plan.report_input.settings(),
            "jobs": self._reported_jobs(),
            "assets": assets_digest(),
        }
        return JobPlan(
            name="report",
            provenance=self._files.provenance("report"),
            outputs=[self._files.report],
            benchmark=self._files.benchmark("report"),
            inputs={"results": list(makers), "citations": "CITATION.cff"},
            makers=makers,
            parameters=plain(parameters),
            code=self._code_of("finitewidth.report.job", script="report", texts=texts),
        )

    def _makers_of_the_report(self) -> dict[str, str]:
        """File that the report reads -> job that makes it."""
        makers: dict[str, str] = {}
        for name in self._jobs.artifacts:
            makers |= dict.fromkeys(self._jobs.outputs(name).values(), name)
        for paper in self._plan.paper_names:
            tables = self._files.verdict_tables(paper).values()
            makers |= dict.fromkeys(tables, f"claims {paper}")
        makers |= self._makers_of_captions()
        makers |= dict.fromkeys(self._files.packages(), "datapackages")
        makers[self._files.errata] = "errata"
        return makers

    def _makers_of_captions(self) -> dict[str, str]:
        makers: dict[str, str] = {}
        for paper in self._plan.paper_names:
            makers |= dict.fromkeys(self._files.captions(paper), f"captions_{paper}")
        return makers

    def _reported_jobs(self) -> dict[str, dict[str, Any]]:
        """Job -> its files and footer: all that the report shows or names, but the report."""
        jobs = {}
        for job in self._jobs.declared():
            jobs[job.name] = self._reported_job(job.name, job.paper)
        captions = [f"captions_{paper}" for paper in self._plan.paper_names]
        for name in ("errata", *captions, "datapackages"):
            jobs[name] = self._reported_job(name)
        for name in self._jobs.trainings:
            jobs[f"train {name}"] = self._reported_job(name, self._jobs[name].paper)
        return jobs

    def _reported_job(self, name: str, paper: str = "") -> dict[str, Any]:
        plan = self.job_plan(name)
        is_artifact = name in self._jobs.artifacts
        return {
            "inputs": list(plan.input_files),
            "outputs": [*plan.outputs, plan.provenance],
            "log": self._files.log(name),
            "benchmark": self._files.benchmark(name),
            "footer": self._plan.footers.footer(name) if is_artifact else "",
            "paper": paper,
        }

    # --- code ------------------------------------------------------------------------------------

    def _errata_code(self) -> Code:
        """The code that checks the errata of all papers, and their texts."""
        modules: list[str] = []
        texts = []
        for paper in self._plan.paper_names:
            modules += modules_of(paper, "errata")
            texts += [text_file(paper, "errata"), text_file(paper, "text")]
        modules += ["finitewidth.errata.table", RUNNERS["experiment"]]
        return self._code_of(*modules, script="experiment", texts=texts)

    def _code_of(self, *modules: str, script: str, texts: Iterable[str | Path | None] = ()) -> Code:
        """The code of a job: modules and all that they import, their script, and some texts."""
        root = self._plan.root.resolve()
        files = [f"workflow/scripts/{script}.py"]
        files += [os.path.relpath(root / text, root) for text in texts if text]
        return code_of(modules, files, self._plan.root)
