"""Templates of captions: they name settings that there are, and nothing else is filled in."""

import io
import re

import pytest
from docutils.core import publish_doctree
from tests.helpers.project import ROOT

from finitewidth.claims.captions import filled
from finitewidth.common.errors import ConfigError
from finitewidth.pipeline.caption_input import CaptionInput
from finitewidth.pipeline.plan import Plan
from finitewidth.settings.presets import preset_only

PRESETS = ("smoke", "quick", "paper")
PLANS = {preset: Plan(preset_only(preset, ROOT / "config"), ROOT) for preset in PRESETS}
TEMPLATES = {
    file.stem: file.read_text(encoding="utf-8")
    for file in sorted((ROOT / "src/finitewidth/papers").glob("*/captions/*.rst"))
}
MATH = re.compile(r":math:`[^`]*`")
SETTING = re.compile(r"\{\{\s+[\w.]+\s+\}\}")


@pytest.mark.parametrize("artifact", TEMPLATES)
def test_a_template_is_text_and_settings(artifact):
    assert not set("{}") & set(SETTING.sub("", MATH.sub("", TEMPLATES[artifact])))


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("paper", PLANS["quick"].paper_names)
def test_all_captions_can_be_written_at_every_preset(paper, preset):
    for artifact, caption in PLANS[preset].caption_input.settings(paper).items():
        text = filled(TEMPLATES[artifact], caption["settings"])
        assert not re.search(r"\b(nan|inf|None|True|False)\b", text), artifact
        flat = " ".join(MATH.sub("x", text).split())
        assert not re.search(r" [.,;:)]|\( |\.\.|,,", flat), artifact
        heard = io.StringIO()
        publish_doctree(text, settings_overrides={"warning_stream": heard, "report_level": 1})
        assert not heard.getvalue(), artifact


def test_an_unknown_setting_is_refused_with_its_template(tmp_path):
    plan = Plan(preset_only("smoke", ROOT / "config"), ROOT)
    templates = plan.caption_input.files("npf")["templates"]
    captions = CaptionInput(plan.jobs, plan.files, plan.evidence, plan.footers, tmp_path)
    for template in templates:
        file = tmp_path / template
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{{ npf.nothing }}")
    with pytest.raises(ConfigError, match=r"npf_table1.rst: there is no setting 'npf.nothing'"):
        captions.settings("npf")


def test_a_caption_depends_on_the_settings_that_it_names():
    config = preset_only("smoke", ROOT / "config")
    config["trust"]["depth"]["draws"] += 1
    before = PLANS["smoke"].caption_input.settings("trust")
    after = Plan(config, ROOT).caption_input.settings("trust")
    changed = {name for name in before if before[name]["settings"] != after[name]["settings"]}
    assert changed == {"trust_fig2"}
