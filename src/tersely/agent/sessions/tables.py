"""The tables of sessions: every script that ever changed them, the oldest first.

Messages form a tree by their parents. A session is the path from its `head` to the root, so that a
fork shares what went before, and rewinding loses nothing. `content` is what the model was sent,
byte for byte; `shown` what a person typed or saw where that is another text.
"""

from __future__ import annotations

MIGRATIONS = (
    """
    create table sessions (
        id text primary key,
        created_at integer not null,
        updated_at integer not null,
        repo_path text not null,
        model_id text not null,
        active_tier integer not null default 0,
        name text not null default '',
        head text,                              -- the last message
        forked_from text,                       -- a session
        prefix text not null,                   -- the first message of every prompt
        way text not null,                      -- of asking for calls, which the prefix describes
        prefix_tier integer not null default 0, -- whose tools the prefix lists
        summary text not null default '',       -- for the next message, of turns that have left the prompt
        kept_from text                          -- the first message that then stays
    );
    create index sessions_of_repository on sessions (repo_path, updated_at);
    create table messages (
        id text primary key,
        session_id text not null references sessions (id),
        parent_id text references messages (id),
        role text not null,                     -- user, assistant, tool
        content text not null,
        tokens integer not null,                -- of `content`, as we count them
        created_at integer not null,            -- ms
        turn integer not null,
        shown text,
        kept_from text,                         -- from here on the prompt begins with that message
        calls text not null default '[]',       -- as the server reported them, JSON
        call_id text not null default '',       -- that a message of a tool answers
        is_whole integer not null default 1     -- 0: broken off
    );
    create index messages_of_session on messages (session_id);
    create index messages_of_parent on messages (parent_id);
    create table tool_calls (
        id text primary key,
        message_id text not null references messages (id),
        tool_name text not null,
        input_json text not null,
        output text not null default '',
        status text not null,                   -- pending, completed, error, denied, interrupted
        duration_ms integer not null default 0,
        tier integer not null,
        tokens integer not null default 0       -- of `output`, as we count them
    );
    create index tool_calls_of_message on tool_calls (message_id);
    create table drafts (                       -- what was shown of an answer that is not whole yet
        session_id text not null references sessions (id),
        number integer primary key autoincrement,
        text text not null
    );
    create table requests (
        session_id text not null references sessions (id),
        message_id text not null references messages (id),
        prompt_tokens integer not null,
        cached_tokens integer,
        completion_tokens integer not null,
        duration_ms integer not null,
        created_at integer not null
    );
    create index requests_of_session on requests (session_id);
    """,
    """
    create table session_models (               -- who answers
        session_id text not null references sessions (id),
        turn integer not null,                  -- the first that it answers
        model text not null,
        server text not null,                   -- URL
        primary key (session_id, turn)
    );
    """,
    """
    alter table messages add column picture text not null default '';  -- a PNG file in Base64
    """,
)
