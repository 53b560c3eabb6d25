"""Jobs seal what they make, and the chain of digests tells what no longer holds."""

import json
from types import SimpleNamespace

import pytest

from finitewidth.common import seals
from finitewidth.common.errors import ResultError
from finitewidth.common.recorded import provenance_of, recorded
from finitewidth.pipeline import chain


class Named(list):
    """A list of files, some of which have names, as Snakemake hands it over."""

    def __init__(self, **named):
        super().__init__(named.values())
        self._named = named

    def items(self):
        return self._named.items()


def rule(name, inputs, outputs, **params):
    """A rule, and the object that Snakemake gives to its script."""
    log = f"results/smoke/logs/{name}.log"
    return SimpleNamespace(
        name=name, rule=name, input=inputs, output=Named(**outputs), log=[log], benchmark="",
        params=Named(**params), wildcards=Named(), has_wildcards=lambda: False,
    )  # fmt: skip


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Two finished jobs: one measures, the other draws what was measured."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "printed.csv").write_text("1\n")
    table, picture = "results/smoke/p/table.csv", "results/smoke/p/picture.png"
    stamp = "results/smoke/p/table_provenance.json"
    measured = rule("measured", ["printed.csv"], {"table": table, "provenance": stamp}, draws=3)
    drawn = rule("drawn", [table], {"png": picture}, footer="3 draws")
    with recorded(measured):
        seals.Path(table).parent.mkdir(parents=True)
        seals.Path(table).write_text("1,2\n")
        seals.Path(stamp).write_text('{"wall_seconds": 1}')
    with recorded(drawn):
        seals.Path(picture).write_bytes(b"picture")
    return SimpleNamespace(folder=tmp_path, table=tmp_path / table, picture=tmp_path / picture,
                           rules=[measured, drawn])  # fmt: skip


def breaks(run):
    return chain.verify(chain.links_of(run.rules, {}))


def test_an_untouched_run_holds(run):
    assert breaks(run) == ([], 2)


def test_a_provenance_records_inputs_outputs_parameters_and_code(run):
    stamp = json.loads((run.folder / "results/smoke/provenance/drawn.json").read_text())
    assert stamp["digests"] == {
        "inputs": {"results/smoke/p/table.csv": seals.digest_of(run.table)},
        "outputs": {"results/smoke/p/picture.png": seals.digest_of(run.picture)},
    }
    assert stamp["parameters"] == {"footer": "3 draws"}
    assert {"identity", "code", "versions", "wall_seconds", "cpu_seconds", "memory_mb"} <= set(
        stamp
    )
    added = json.loads((run.folder / "results/smoke/p/table_provenance.json").read_text())
    assert added["wall_seconds"] == 1
    assert set(added["digests"]["outputs"]) == {"results/smoke/p/table.csv"}


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda run: run.picture.write_bytes(b"other"), "picture.png differs from what its job"),
        (lambda run: run.table.write_text("1,3\n"), "table.csv differs from what its job wrote"),
        (lambda run: run.table.unlink(), "table.csv is missing"),
        (lambda run: (run.folder / "printed.csv").write_text("2\n"), "printed.csv differs from"),
        (lambda run: run.rules[1].params._named.update(footer="4"), "other settings or other code"),
        (lambda run: (run.folder / "results/smoke/provenance/drawn.json").unlink(),
         "has no provenance"),
        (lambda run: (run.folder / "results/smoke/provenance/drawn.json").write_text("[]"),
         "has no provenance"),
    ],
)  # fmt: skip
def test_each_break_is_named_once(run, damage, words):
    damage(run)
    found, checked = breaks(run)
    assert checked == 2 or "missing" in words
    assert len(found) == 1
    assert words in found[0]
    assert found[0].endswith("run again")


def test_a_job_refuses_an_altered_input(run):
    run.table.write_text("1,3\n")
    message = r"table\.csv is damaged.*delete it and run again"
    with pytest.raises(SystemExit, match=message), recorded(run.rules[1]):
        pytest.fail("the job ran")


def test_a_job_refuses_a_file_that_no_job_wrote(run):
    seals.seal_of(run.table).unlink()
    with pytest.raises(ResultError, match="was not written by a job"):
        seals.checked_digest("results/smoke/p/table.csv")


def test_a_renamed_file_is_refused(run):
    other = run.table.with_name("other.csv")
    other.write_bytes(run.table.read_bytes())
    with pytest.raises(ResultError, match=r"other\.csv was not written by a job"):
        seals.checked_digest("results/smoke/p/other.csv")


def test_printed_numbers_need_no_seal(run):
    assert seals.checked_digest("printed.csv") == seals.digest_of("printed.csv")


def test_the_digest_of_a_folder_depends_on_names_and_bytes(tmp_path):
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    (tmp_path / "one/a").write_text("1")
    (tmp_path / "two/b").write_text("1")
    (tmp_path / "three/a").write_text("2")
    digests = {name: seals.digest_of(tmp_path / name) for name in ("one", "two", "three")}
    assert len(set(digests.values())) == 3
    (tmp_path / "one/.snakemake_timestamp").touch()  # Snakemake does so when a job has ended
    assert seals.digest_of(tmp_path / "one") == digests["one"]


def test_the_provenance_lies_where_the_log_does():
    assert provenance_of({}, "results/a/logs/b/c.log") == "results/a/provenance/b/c.json"
    assert provenance_of({"provenance": "x.json"}, "results/a/logs/c.log") == "x.json"


RECORDS = ".snakemake/metadata"


def test_results_without_records_are_accepted_while_the_chain_holds(run):
    links = chain.links_of(run.rules, {})
    assert chain.settle(links, RECORDS) == []
    assert not (run.folder / RECORDS).exists()
    before = run.picture.read_bytes()
    run.picture.write_bytes(b"other")
    assert chain.settle(links, RECORDS) == ["drawn"]
    record = chain._record(RECORDS, "results/smoke/p/picture.png")
    assert json.loads(record.read_text())["params"] == [chain.UNKNOWN]
    run.picture.write_bytes(before)
    assert chain.settle(links, RECORDS) == []
    assert not record.exists()


def test_a_record_of_snakemake_is_left_to_snakemake(run):
    run.rules[1].params._named.update(footer="4")
    record = chain._record(RECORDS, "results/smoke/p/picture.png")
    record.parent.mkdir(parents=True)
    record.write_text('{"params": ["\'3 draws\'"]}')
    assert chain.settle(chain.links_of(run.rules[1:], {}), RECORDS) == []
    assert "3 draws" in record.read_text()


def test_times_in_any_order_become_equal(run):
    chain.os.utime(run.picture, (1, 1))
    assert chain.settle(chain.links_of(run.rules, {}), RECORDS) == []
    assert run.picture.stat().st_mtime == run.table.stat().st_mtime


def test_rules_with_wildcards_have_the_jobs_that_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    claims = rule("claims", [], {"verdicts": "results/s/{paper,[a-z0-9]+}.csv"})
    claims.log = ["results/s/logs/{paper}.log"]
    claims.params = Named(settings=lambda wildcards: {"paper": wildcards.paper})
    claims.has_wildcards = lambda: True
    links = chain.links_of([claims], {"claims": [{"paper": "npf"}, {"paper": "dgn"}]})
    assert [(link.name, *link.outputs, link.provenance) for link in links] == [
        ("claims npf", "results/s/npf.csv", "results/s/provenance/npf.json"),
        ("claims dgn", "results/s/dgn.csv", "results/s/provenance/dgn.json"),
    ]
    assert links[0].identity() != links[1].identity()
