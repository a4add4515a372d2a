"""llama.cpp's server in a process of its own, which ends when whoever started it lets go of its
standard input.

python -m bench.modelserver.server MODEL --window TOKENS
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

START_SECONDS = 60
END_SECONDS = 5
SEED = 0  # of what is drawn for an answer, so that a question has the same one each time
ROOT = Path(__file__).parents[2]


class Server:
    """A running server: `url` is where it listens."""

    def __init__(
        self,
        model: Path,
        window: int = 8_192,
        slots: int = 1,
        reuse: int = 0,
        port: int = 0,
        embeds: bool = False,
        log: Path | None = None,
    ) -> None:
        words = [
            sys.executable,
            "-m",
            "bench.modelserver.server",
            str(model),
            "--window",
            str(window),
        ]
        words += ["--slots", str(slots), "--reuse", str(reuse), "--port", str(port)]
        words += ["--embeds"] if embeds else []
        self.log = log or model.with_suffix(".log")
        path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
        with self.log.open("ab") as errors:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                env={**os.environ, "PYTHONPATH": path},
            )  # fmt: skip
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.kill()
            raise RuntimeError(
                f"the model server did not start:\n{self.log.read_text('utf-8', 'replace')[-2_000:]}"
            )
        self.url: str = json.loads(line)["url"]

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def kill(self) -> None:
        """End it at once, whatever it is doing."""
        self._process.kill()
        self._process.wait(END_SECONDS)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()


def serve(
    model: str,
    window: int,
    slots: int,
    reuse: int,
    port: int,
    embeds: bool,
) -> None:
    """Serve a model on a port of this machine (0: some) until standard input ends; say where on
    standard output.

    With `embeds` it answers with embeddings, the mean over the tokens of a text, and nothing else.
    """
    import xllamacpp

    told = os.dup(1)
    os.dup2(2, 1)  # llama.cpp logs to both
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {Path(model).stem}
    params.n_ctx = window
    params.n_parallel = slots
    params.n_cache_reuse = reuse  # tokens at least of a part that is moved; 0 for none
    params.port = port
    params.n_gpu_layers = 0
    params.fit_params = False
    params.warmup = False
    params.sampling.seed = SEED
    params.ui = False
    params.endpoint_props = False
    params.endpoint_slots = True
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_threads_http = 4
    # the scripted model computes with large numbers whose small differences count
    params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    if embeds:
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
        params.n_batch = params.n_ubatch = window  # a text is embedded in one piece
    params.reasoning_format = xllamacpp.common_reasoning_format.COMMON_REASONING_FORMAT_NONE
    server = xllamacpp.Server(params)
    os.write(told, json.dumps({"url": server.listening_address}).encode() + b"\n")
    sys.stdin.buffer.read()
    os._exit(0)  # its threads may be in the middle of an answer that nobody waits for


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--window", type=int, default=8_192)
    parser.add_argument("--slots", type=int, default=1)
    parser.add_argument("--reuse", type=int, default=0)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--embeds", action="store_true")
    asked = parser.parse_args()
    serve(
        asked.model, asked.window, asked.slots, asked.reuse, asked.port, asked.embeds,
    )  # fmt: skip
