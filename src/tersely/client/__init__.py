"""The relay from Python: a client asks capabilities by their names, and what is none by the
name of its operation, with `ask`.

    from tersely.client import AsyncClient, Client

    with Client.local("my-agent") as relay:
        thread = relay.ask("thread.new", name="first").thread_id
        note = relay.ask("artifact.put", content="# Notes", name="notes.md", thread=thread)
        fact = {"id": "f1", "key": "note", "value": note.ref}
        relay.ask("state.patch", thread=thread, patch=[{"op": "add", "path": "/facts/-", "value":
        fact}])
        print(relay.ask("state.header", thread=thread).top_facts)

    async with AsyncClient.local("my-agent") as relay:
        header = await relay.ask("state.header", thread=thread)

Both give back the values that the capabilities declare, and raise `TerselyError` with the code that
the relay sent.
"""

from tersely.client.asking import AsyncClient, Client
from tersely.client.request import ask

__all__ = ["AsyncClient", "Client", "ask"]
