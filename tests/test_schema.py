"""What `--json` prints is what `docs/summary.schema.json` promises, for every reference model."""

import json
import math

import jsonschema
import pytest
from conftest import REFERENCE_MODELS, ROOT

SCHEMA = json.loads((ROOT / "docs" / "summary.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@pytest.mark.parametrize("model", REFERENCE_MODELS)
def test_the_summary_keeps_its_schema(build, model):
    _, _, said = build(model)
    assert [error.message for error in VALIDATOR.iter_errors(said)] == []
    assert sorted(set(said) - set(SCHEMA["properties"])) == [], "keys that the schema does not describe"
    assert said["explicit_states"] + said["implicit_states"] == said["states"] and len(said["implicit"]) == said["implicit_states"]
    assert said["error"] is None or math.isclose(said["error"], max(error["error"] for error in said["errors"]))


def test_the_schema_is_a_schema_and_refuses():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    missing = [error.message for error in VALIDATOR.iter_errors({})]
    assert len(missing) == len(SCHEMA["required"]) >= 40
    wrong = [list(error.path) for error in VALIDATOR.iter_errors({"states": -1, "step": 0, "jacobian": "sometimes"}) if error.path]
    assert sorted(wrong) == [["jacobian"], ["states"], ["step"]]
