"""Command lines of jobs: what is called literal is taken literally by a shell."""

import json
import shlex
import subprocess
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from finitewidth.common.errors import ConfigError
from finitewidth.pipeline.job_commands import (
    is_literal,
    refuse_active_words,
    relative_interpreter,
    send_in_a_file,
    settings_of_jobs,
)

ACTIVE = [
    "$(touch X)", "`touch X`", "a;b", "a&b", "a|b", "> X", "a\nb", "a\\b", '"$HOME"', "'a", '"a',
    '"`touch X`"', "~", "*", "{a,b}", "#a", "'a'$(touch X)'b'", '"a\\b"', "a(b)", "!1",
]  # fmt: skip
LITERAL = [
    "",
    "--a b",
    "'a b' c",
    "\"it's\" 'a $(touch X) `b` \\ \" &;'",
    "--a='x y'",
    "base64//YQ==",
]


@pytest.mark.parametrize("text", ACTIVE)
def test_what_a_shell_interprets_is_not_literal(text):
    assert not is_literal(text)


@pytest.mark.parametrize("text", LITERAL)
def test_words_are_literal(text):
    assert is_literal(text)


def test_a_shell_reads_literal_text_as_its_words(tmp_path):
    """New texts in each run, from characters that shells know: all that pass go to a shell."""
    read = []

    @hypothesis_settings(max_examples=1000, deadline=None, database=None)
    @given(st.text(st.sampled_from("ab '\"'\"$`\\;&|()~#=é-/"), max_size=12))
    @example("\"it's\"'$a'b")
    def keep(text):
        if is_literal(text):
            read.append(text)

    keep()
    script = "".join(f"printf '%s\\0' {text}; printf '\\n'\n" for text in read)
    for shell in ("sh", "bash"):
        answer = subprocess.run([shell], input=script, cwd=tmp_path, capture_output=True, text=True,
                                check=True)  # fmt: skip
        said = [line.split("\0")[:-1] for line in answer.stdout.splitlines()]
        # printf without arguments prints its format once
        assert said == [shlex.split(text) or [""] for text in read]
    assert len(read) > 20
    assert not list(tmp_path.iterdir())


def test_an_interpreter_that_cannot_be_quoted_is_named_from_the_folder():
    folder = "/a b/$(touch X)"
    assert relative_interpreter("/usr/bin/python3", folder) == "/usr/bin/python3"
    assert relative_interpreter(f"{folder}/.venv/bin/python", folder) == ".venv/bin/python"
    for outside in ("/c d/python", f"{folder}/e f/python"):
        with pytest.raises(ConfigError, match="interpreter"):
            relative_interpreter(outside, folder)


def test_settings_travel_in_a_file_with_the_data_root(tmp_path, monkeypatch):
    monkeypatch.setenv("FINITEWIDTH_DATA", "/$(touch X)")
    given_settings = {"npf": {"nu": {"runs": "2"}}, "data": {"mnist": "digits"}}
    chosen = SimpleNamespace(overwrite_config=given_settings, config_args=["x"], configfiles=["y"])
    send_in_a_file(SimpleNamespace(config_settings=chosen), tmp_path / "a b")
    (file,) = chosen.configfiles
    assert chosen.config_args == []
    assert json.loads(file.read_text()) == {
        "npf": {"nu": {"runs": "2"}},
        "data": {"mnist": "digits", "root": "/$(touch X)"},
    }
    assert given_settings["data"] == {"mnist": "digits"}
    assert settings_of_jobs({"data": {"root": "/here"}})["data"]["root"] == "/here"


def cluster(folder="/a b/é", options="--config 'x y'", local=False):
    return SimpleNamespace(
        local_exec=local,
        workdir_init=folder,
        main_snakefile=f"{folder}/Snakefile",
        executor_plugin=SimpleNamespace(common_settings=None),
        spawned_job_args_factory=SimpleNamespace(general_args=lambda **_: options),
    )


def test_a_run_on_a_cluster_is_refused_if_a_path_would_be_interpreted():
    refuse_active_words(cluster())
    for folder in ("/a$b", "/`a`", "/it's", '/"', "/a\\b", "/a\nb"):
        refuse_active_words(cluster(folder, local=True))
        with pytest.raises(ConfigError, match="the folder of the run"):
            refuse_active_words(cluster(folder))
    with pytest.raises(ConfigError, match="an option"):
        refuse_active_words(cluster(options='--conda-prefix "$(touch X)\'"'))
