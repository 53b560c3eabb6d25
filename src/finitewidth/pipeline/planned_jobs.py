"""What each job of a run reads and is told: the `JobPlan` of every kind of job.

Imports no torch: Snakemake reads this at every start.
"""

from typing import Any

from finitewidth.data.places import tree_of
from finitewidth.pipeline.job_plans import JobPlan, JobPlans, plain
from finitewidth.pipeline.jobs import Job, makers_of
from finitewidth.pipeline.plan import Plan
from finitewidth.report.build import assets_digest


def job_plans(plan: Plan) -> JobPlans:
    """The plans of all jobs of a run, to be compared with the results that there are."""
    rerun_packages = plan.config["rerun"] == "packages"
    return JobPlans(PlannedJobs(plan).job_plan, plan.root, rerun_packages)


class PlannedJobs:
    """Makes the plan of a job from its name."""

    def __init__(self, plan: Plan):
        self._plan = plan

    def job_plan(self, name: str) -> JobPlan:
        """What one job reads and is told; its name is as `announced.job_name` has it."""
        kind, _, rest = name.partition(" ")
        if kind == "dataset":
            return self._dataset_plan(rest)
        if kind == "claims":
            return self._claims_plan(rest)
        if name.startswith("captions_"):
            return self._captions_plan(name.removeprefix("captions_"))
        if name in ("errata", "datapackages", "report"):
            return {
                "errata": self._errata_plan,
                "datapackages": self._packages_plan,
                "report": self._report_plan,
            }[name]()
        job = self._plan.jobs[name]
        return self._training_plan(job) if job.kind == "training" else self._declared_plan(job)

    def _dataset_plan(self, source: str) -> JobPlan:
        return JobPlan(
            name=f"dataset {source}",
            provenance=f"results/data/provenance/{source}.json",
            outputs=[f"results/data/{source}.npz"],
            benchmark=f"results/data/benchmarks/{source}.tsv",
            parameters={"tree": tree_of(source, self._plan.config["data"])},
            code=self._plan.code_of("finitewidth.data.build", script="dataset"),
        )

    def _training_plan(self, job: Job) -> JobPlan:
        outputs = self._plan.jobs.outputs(job.name)
        return JobPlan(
            name=job.name,
            provenance=outputs.pop("provenance"),
            outputs=list(outputs.values()),
            benchmark=self._plan.benchmark(job.name),
            inputs=job.input_files,
            makers=makers_of(job.inputs),
            parameters=plain({"settings": job.params, "seed": self._plan.config["seed"]}),
            code=self._plan.code_of("finitewidth.training.job", script="train"),
        )

    def _declared_plan(self, job: Job) -> JobPlan:
        name, outputs = job.name, self._plan.jobs.outputs(job.name)
        told: dict[str, Any] = {"module": job.declared.module, "settings": self._plan.params(name)}
        if job.kind == "experiment":
            told["seed"] = self._plan.config["seed"]
        else:
            outputs["provenance"] = f"{self._plan.results}/provenance/{job.paper}/{name}.json"
            told["footer"] = self._plan.footers.footer(name)
        if job.kind == "figure":
            told["mark"] = self._plan.footers.mark(name)
        return JobPlan(
            name=name,
            provenance=outputs.pop("provenance"),
            outputs=list(outputs.values()),
            benchmark=self._plan.benchmark(job.name),
            inputs=job.input_files,
            makers=makers_of(job.inputs),
            parameters=plain(told),
            code=self._plan.code(name),
        )

    def _errata_plan(self) -> JobPlan:
        return JobPlan(
            name="errata",
            provenance=f"{self._plan.results}/errata/experiments/errata_provenance.json",
            outputs=[self._plan.errata],
            benchmark=self._plan.benchmark("errata"),
            parameters={
                "module": "finitewidth.errata.table",
                "seed": 0,  # errata are checked on the same networks whatever the base seed
                "settings": {**self._plan.config["errata"], "papers": list(self._plan.captioned)},
            },
            code=self._plan.errata_code(),
        )

    def _claims_plan(self, paper: str) -> JobPlan:
        return JobPlan(
            name=f"claims {paper}",
            provenance=f"{self._plan.results}/provenance/claims/{paper}.json",
            outputs=list(self._plan.verdict_tables(paper).values()),
            benchmark=self._plan.benchmark(f"claims {paper}"),
            inputs=self._plan.claim_inputs(paper),
            makers=makers_of(self._plan.claim_reads(paper)),
            parameters=plain({"settings": self._plan.claim_settings(paper)}),
            code=self._plan.claim_code(paper),
        )

    def _captions_plan(self, paper: str) -> JobPlan:
        makers = {
            self._plan.verdict_tables(each)["verdicts"]: f"claims {each}"
            for each in self._plan.judged_in(paper)
        }
        return JobPlan(
            name=f"captions_{paper}",
            provenance=f"{self._plan.results}/provenance/{paper}/captions.json",
            outputs=self._plan.captions(paper),
            benchmark=self._plan.benchmark(f"captions_{paper}"),
            inputs=self._plan.caption_inputs(paper),
            makers=makers,
            parameters=plain({"captions": self._plan.caption_jobs(paper)}),
            code=self._plan.code_of("finitewidth.claims.captions", script="captions"),
        )

    def _packages_plan(self) -> JobPlan:
        outputs = self._plan.jobs.outputs
        tables = {outputs(a.artifact)["csv"]: a.artifact for a in self._plan.artifacts}
        headers = self._plan.headers()
        makers_of_headers = {file: job for file, job in headers.items() if job}
        makers = makers_of_headers | tables | self._makers_of_captions()
        return JobPlan(
            name="datapackages",
            provenance=f"{self._plan.results}/provenance/datapackages.json",
            outputs=list(self._plan.packages()),
            benchmark=self._plan.benchmark("datapackages"),
            inputs={
                "tables": list(tables),
                "captions": self._plan.captions(),
                "headers": list(headers),
            },
            makers=makers,
            parameters=plain({"packages": self._plan.packages()}),
            code=self._plan.code_of(
                "finitewidth.report.datapackages",
                *sorted({entry.module for entry in self._plan.artifacts}),
                script="datapackages",
            ),
        )

    def _report_plan(self) -> JobPlan:
        makers: dict[str, str] = {}
        for entry in self._plan.artifacts:
            makers |= dict.fromkeys(
                self._plan.jobs.outputs(entry.artifact).values(), entry.artifact
            )
        for paper in self._plan.captioned:
            tables = self._plan.verdict_tables(paper).values()
            makers |= dict.fromkeys(tables, f"claims {paper}")
        makers |= self._makers_of_captions() | dict.fromkeys(self._plan.packages(), "datapackages")
        makers[self._plan.errata] = "errata"
        return JobPlan(
            name="report",
            provenance=f"{self._plan.results}/provenance/report.json",
            outputs=[f"{self._plan.results}/report"],
            benchmark=self._plan.benchmark("report"),
            inputs={"results": list(makers), "citations": "CITATION.cff"},
            makers=makers,
            parameters=plain(
                {
                    "settings": self._plan.report_settings(),
                    "jobs": self._report_jobs(),
                    "assets": assets_digest(),
                }
            ),
            code=self._plan.code_of("finitewidth.report.job", script="report"),
        )

    def _makers_of_captions(self) -> dict[str, str]:
        return {
            caption: f"captions_{paper}"
            for paper in self._plan.captioned
            for caption in self._plan.captions(paper)
        }

    def _report_jobs(self) -> dict[str, dict[str, Any]]:
        """Job -> its files and footer: all that the report shows or names, but the report."""
        jobs = {}
        declared = [job.name for job in self._plan.declared()]
        captions = [f"captions_{paper}" for paper in self._plan.captioned]
        for name in [*declared, "errata", *captions, "datapackages", *self._plan.jobs.trainings]:
            plan = self.job_plan(name)
            training = name in self._plan.jobs.trainings
            artifact = name in self._plan.jobs.artifacts
            jobs[f"train {name}" if training else name] = {
                "inputs": list(plan.input_files),
                "outputs": [*plan.outputs, plan.provenance],
                "log": self._plan.log(name),
                "benchmark": self._plan.benchmark(name),
                "footer": self._plan.footers.footer(name) if artifact else "",
                "paper": self._plan.jobs[name].paper if training or name in declared else "",
            }
        return jobs
