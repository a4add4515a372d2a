"""The relay from Python: what can be asked is a function of `ask`, and a client asks it.

    from tersely.client import AsyncClient, Client, ask

    with Client.local("my-agent") as relay:
        thread = relay(ask.thread_new("first")).thread_id
        note = relay(ask.artifact_put(thread, "# Notes", name="notes.md"))
        fact = {"id": "f1", "key": "note", "value": note.ref}
        relay(ask.state_patch(thread, [{"op": "add", "path": "/facts/-", "value": fact}]))
        print(relay(ask.state_header(thread)).top_facts)

    async with AsyncClient.local("my-agent") as relay:
        header = await relay(ask.state_header(thread))

Both give back the values of `tersely.protocols.relay.shapes`, and raise `TerselyError` with the code that the relay
sent.
"""

from tersely.client.asking import AsyncClient, Client

__all__ = ["AsyncClient", "Client"]
