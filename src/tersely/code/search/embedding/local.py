"""Vectors from a model that runs in this process. The packages that run it are the user's to install."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tersely.code.search.embedding.embedders import Embedder
from tersely.code.search.embedding.texts import question_text, unit_texts
from tersely.code.search.embedding.vectors import Floats
from tersely.foundation.errors import TerselyError
from tersely.foundation.hashing import content_hash
from tersely.foundation.limits import EMBEDDED_TOKENS

BATCH_TEXTS = 32


def onnx(directory: str) -> Embedder:
    """A sentence transformer such as all-MiniLM-L6-v2: a directory with `model.onnx` and `tokenizer.json`."""
    runtime, tokenizers = _imported("onnxruntime"), _imported("tokenizers")
    model, words = Path(directory).expanduser() / "model.onnx", Path(directory).expanduser() / "tokenizer.json"
    if not model.is_file() or not words.is_file():
        raise TerselyError("invalid_setting", f"{directory} has no model.onnx and tokenizer.json")
    tokenizer = tokenizers.Tokenizer.from_file(str(words))
    tokenizer.enable_truncation(EMBEDDED_TOKENS)
    tokenizer.enable_padding()
    options = runtime.SessionOptions()
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # threads that wait leave others the cores
    session = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    wanted = {entry.name for entry in session.get_inputs()}

    def embed(texts: Sequence[str]) -> Floats:
        read = tokenizer.encode_batch(list(texts))
        mask = np.array([one.attention_mask for one in read], np.int64)
        given = {"input_ids": np.array([one.ids for one in read], np.int64), "attention_mask": mask}
        given["token_type_ids"] = np.zeros_like(mask)
        states = session.run(None, {name: value for name, value in given.items() if name in wanted})[0]
        weights = mask[:, :, None].astype(np.float32)
        return np.asarray((states * weights).sum(axis=1) / weights.sum(axis=1), np.float32)

    return _embedder(f"onnx {content_hash(model.read_bytes()).hex()}", embed)


def fastembed(chosen: str) -> Embedder:
    """A model of the fastembed package, by its name there; `name@directory` takes its files from a directory."""
    name, _, directory = chosen.partition("@")
    place = str(Path(directory).expanduser()) if directory else None
    try:
        model = _imported("fastembed").TextEmbedding(model_name=name, specific_model_path=place)
    except (ValueError, OSError) as error:  # no such model, or no way to it
        hint = f"fastembed:{name}@DIRECTORY takes a model that lies on this machine."
        raise TerselyError("embedder_unavailable", f"fastembed has no model {chosen}: {error}", hint) from error
    return _embedder(f"fastembed {chosen}", lambda texts: np.array(list(model.embed(list(texts))), np.float32))


def _embedder(identity: str, embed: Callable[[Sequence[str]], Floats]) -> Embedder:
    def all_of(texts: Sequence[str]) -> Floats:
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))  # a batch is as long as its longest
        batches = [order[start : start + BATCH_TEXTS] for start in range(0, len(order), BATCH_TEXTS)]
        parts = [embed([texts[number] for number in batch]) for batch in batches]
        return np.concatenate(parts)[np.argsort(order)] if parts else np.zeros((0, 1), np.float32)

    return Embedder(
        identity, lambda batch: all_of(unit_texts(batch.texts())), lambda query: all_of([question_text(query)])[0]
    )


def _imported(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError as error:
        hint = f"pip install {package}, or TERSELY_EMBEDDER=words."
        raise TerselyError("embedder_unavailable", f"the package {package} is not installed", hint) from error
