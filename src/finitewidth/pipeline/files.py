"""Where the files of a run are: results, logs, benchmarks, provenances."""

from finitewidth.pipeline.folders import DATASETS
from finitewidth.pipeline.job_names import rule_of
from finitewidth.pipeline.jobs import Jobs

VERDICTS = ("verdicts", "parts", "numbers")  # tables that judge the claims of a paper


class Files:
    """The files of all jobs of one configuration, by the names of the jobs.

    The names are those of `finitewidth.pipeline.job_names`.
    """

    def __init__(self, jobs: Jobs):
        self._jobs = jobs
        self._papers = [paper.name for paper in jobs.papers]
        self.results = jobs.results
        self.report = f"{self.results}/report"
        self.errata = f"{self.results}/errata/experiments/errata.csv"

    def targets(self, paper: str | None = None) -> list[str]:
        """The files of all artifacts, of one paper or of all."""
        files: list[str] = []
        for entry in self._jobs.artifacts_of(paper):
            files += self._jobs.outputs(entry.artifact).values()
        return files

    def table(self, artifact: str) -> str:
        """The data of a figure, or a table as data."""
        return self._jobs.outputs(artifact)["csv"]

    def caption(self, artifact: str) -> str:
        """The caption of an artifact, with settings and verdicts of this run."""
        return f"{self.results}/{self._jobs[artifact].paper}/captions/{artifact}.rst"

    def captions(self, paper: str | None = None) -> list[str]:
        """The captions of all artifacts, of one paper or of all."""
        return [self.caption(entry.artifact) for entry in self._jobs.artifacts_of(paper)]

    def verdict_tables(self, paper: str) -> dict[str, str]:
        """The tables of verdicts and numbers of one paper."""
        return {kind: f"{self.results}/claims/{paper}_{kind}.csv" for kind in VERDICTS}

    def verdict_table(self, paper: str) -> str:
        """The table of verdicts on the claims of one paper."""
        return self.verdict_tables(paper)["verdicts"]

    def verdicts(self) -> list[str]:
        """The tables of verdicts and numbers of all papers."""
        files: list[str] = []
        for paper in self._papers:
            files += self.verdict_tables(paper).values()
        return files

    def package(self, paper: str) -> str:
        """The description of the data package of the figures and tables of a paper."""
        return f"{self.results}/{paper}/datapackage.json"

    def experiments_package(self, paper: str) -> str:
        """The description of the data package of the experiments of a paper."""
        return f"{self.results}/{paper}/experiments/datapackage.json"

    def packages(self) -> list[str]:
        """The descriptions of the data packages of all papers."""
        packages = [self.package(paper) for paper in self._papers]
        with_experiments = {entry.paper: None for entry in self._jobs.experiments.values()}
        return packages + [self.experiments_package(paper) for paper in with_experiments]

    def log(self, name: str) -> str:
        """The log of a job."""
        return f"{self.results}/logs/{self._stem(name)}.log"

    def benchmark(self, name: str) -> str:
        """The file with time and memory of a job, as Snakemake measures them."""
        if name.startswith("dataset "):
            return f"{DATASETS}/benchmarks/{name.removeprefix('dataset ')}.tsv"
        return f"{self.results}/benchmarks/{self._stem(name)}.tsv"

    def provenance(self, name: str) -> str:
        """The file that a job writes last, with all that its results were made of."""
        if name.startswith("dataset "):
            return f"{DATASETS}/provenance/{name.removeprefix('dataset ')}.json"
        if name == "errata":
            return f"{self.results}/errata/experiments/errata_provenance.json"
        if name in self._jobs.experiments or rule_of(name) == "train":
            return self._jobs.outputs(name)["provenance"]
        return f"{self.results}/provenance/{self._stem(name)}.json"

    def _stem(self, name: str) -> str:
        """The path of the files of a job in each of their folders."""
        if name in self._jobs.experiments:
            return f"{self._jobs.experiments[name].paper}/{name}"
        if name in self._jobs.artifacts:
            return f"{self._jobs.artifacts[name].paper}/{name}"
        if name.startswith("captions_"):
            return f"{name.removeprefix('captions_')}/captions"
        if name == "errata":
            return "errata/errata"
        return name.replace("/", "/training/").replace(" ", "/")
