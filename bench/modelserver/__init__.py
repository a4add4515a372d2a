"""A real inference server for tests and measurements: llama.cpp's own, over models that are written
here.

`vocabulary` makes a tokenizer, `weights` models of random or of hand-made weights, `server` runs
them in a process of its own. Needs the packages `xllamacpp` and `gguf`.
"""
