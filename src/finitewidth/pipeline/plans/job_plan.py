"""The plan of one job: its inputs, its parameters, and the code that it reaches."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from finitewidth.records.code import Code


@dataclass(frozen=True, kw_only=True)
class JobPlan:
    """All that makes the results of one job what they are.

    Attributes:
        name: of the job, as `finitewidth.pipeline.job_names` has it
        provenance: the file that the job writes last
        outputs: all other files that it writes
        benchmark: the file in which Snakemake writes what it took
        inputs: name -> file or files that it reads, as its rule has them
        makers: file among the inputs -> job that makes it; files of the project have none
        parameters: those of its rule, as JSON has them
        code: all modules, scripts and texts that it reaches
    """

    name: str
    provenance: str
    outputs: Sequence[str] = ()
    benchmark: str = ""
    inputs: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    makers: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any]
    code: Code

    @property
    def input_files(self) -> Iterator[str]:
        """All files that the job reads."""
        for files in self.inputs.values():
            yield from [files] if isinstance(files, str) else files

    @property
    def project_files(self) -> list[str]:
        """Files of the project that the job reads, such as printed numbers."""
        return [file for file in self.input_files if file not in self.makers]

    @property
    def results(self) -> list[str]:
        """All files that the job leaves, with its provenance."""
        return [self.provenance, *self.outputs]

    @property
    def jobs_before(self) -> list[str]:
        """The jobs whose files it reads."""
        return list(dict.fromkeys(self.makers.values()))


def plain(value: Any) -> Any:
    """Return parameters as JSON has them: what a provenance holds of them."""
    return json.loads(json.dumps(value, default=str))
