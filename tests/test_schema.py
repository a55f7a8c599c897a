"""What `--json` prints is what the schemas in `docs` promise, for every reference model."""

import json
import math

import jsonschema
import pytest
from conftest import REFERENCE_MODELS, ROOT, fmu_build

SUMMARY, INSPECTION = (json.loads((ROOT / "docs" / f"{name}.schema.json").read_text()) for name in ["summary", "inspect"])


def faults(schema, said):
    """What the schema refuses, and keys that it does not describe."""
    refused = [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(said)]
    return refused + sorted(set(said) - set(schema["properties"]))


@pytest.mark.parametrize("model", REFERENCE_MODELS)
def test_the_summary_keeps_its_schema(build, model):
    _, _, said = build(model)
    assert faults(SUMMARY, said) == []
    assert said["explicit_states"] + said["implicit_states"] == said["states"] and len(said["implicit"]) == said["implicit_states"]
    assert said["error"] is None or math.isclose(said["error"], max(error["error"] for error in said["errors"]))


@pytest.mark.parametrize("model", REFERENCE_MODELS)
def test_the_inspection_keeps_its_schema(tmp_path, model):
    fmu = tmp_path / "in.fmu"
    fmu_build("example", model, fmu)
    said = json.loads(fmu_build("inspect", "--json", fmu))
    assert faults(INSPECTION, said) == []
    assert said["constant_nonzeros"] <= said["nonzeros"] <= said["states"] ** 2
    assert len(said["block_sizes"]) == said["blocks"] and sum(said["block_sizes"]) <= said["states"]
    assert len(said["largest_block_names"]) == said["largest_block"] == max(said["block_sizes"], default=0)
    assert len(said["tear_names"]) == said["tears"]


@pytest.mark.parametrize("schema, wrong", [
    (SUMMARY, {"states": -1, "step": 0, "jacobian": "sometimes"}),
    (INSPECTION, {"states": -1, "cut": {"names": ["a"]}, "evaluations_per_step": 0}),
], ids=["summary", "inspect"])
def test_the_schemas_are_schemas_and_refuse(schema, wrong):
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    missing = [error.message for error in validator.iter_errors({})]
    assert len(missing) == len(schema["required"]) >= 26
    found = {error.path[0] for error in validator.iter_errors(wrong) if error.path}
    assert found == set(wrong)
