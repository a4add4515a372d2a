"""Bounds that several modules use; all others stand in their module. The unit comes last in the
name.
"""

from __future__ import annotations

# Files that are worth indexing

MAX_FILE_BYTES = 8_000_000  # written by people, or put together for a page

# Settings

MAX_SETTINGS_BYTES = 1_000_000  # of one file

# Indexing

MAX_CONTENT_BYTES = 50_000_000  # of a text that is handed to a command

# The daemon: starting and asking it

DAEMON_START_SECONDS = 30  # for one to listen
DAEMON_CONNECT_SECONDS = 1.0
DAEMON_RECEIPT_SECONDS = 2.0  # for it to say that a request has been read

# The daemon: what one client, and all of them, may ask

MAX_REQUEST_BYTES = 1_000_000  # of one line
MAX_CLIENT_REQUESTS = 64  # of one connection, not yet answered
MAX_ANSWER_BYTES = 8_000_000
REQUEST_SECONDS = 30  # for one answer, where the request does not say
MAX_REQUEST_SECONDS = 600

# The daemon: its processes

MAX_LOG_BYTES = 500_000
PROGRESS_SECONDS = 0.1  # between two words on how far the work has come

# Databases

DATABASE_BUSY_MILLISECONDS = 5_000

# Packs

DEFAULT_BUDGET_TOKENS = 2_000
MAX_HOPS = 1_000_000  # calls that one may say have led to it; the policy allows fewer
DEFAULT_DEPTH_HOPS = 2
MAX_BUDGET_TOKENS = 200_000
MAX_DEPTH_HOPS = 8
MAX_EXPANDED_SYMBOLS = 16  # symbols of one hop whose own neighbours are looked at
MAX_CANDIDATES_SYMBOLS = 500
SETTLE_ROUNDS = 6  # a pack that prints its own size is counted until the figure stands

# What readers have been shown

MAX_SESSION_CHARACTERS = 200  # of its name

# Flow inside functions

MAX_SLICED_CALLEES = 20  # functions that one slice goes into

# Reports of coverage and of failed tests

MAX_COVERED_LINE = 1_000_000  # no source that is indexed has more lines

# Lookups

MAX_LOOKUP_SYMBOLS = 1_000  # what a lookup may mean before it is cut

# Questions

MAX_ARGUMENT_CHARACTERS = 4_000
MAX_TARGET_SYMBOLS = 50  # what one pack may be about

# Answers

MAX_PAGE_ENTRIES = 5_000
MAX_SHOWN_LINES = 20_000
MAX_LISTED_DIFFERENCES = 4  # of one function from another
MAX_DIFFERENCE_CHARACTERS = 40  # of each side of one
MAX_LISTED_FILES = 10  # that an ambiguous path may mean
MAX_NAMES_CHARACTERS = 100  # of the names imported together

# The relay: its store

MAX_READ_ENTRIES = 1_001  # of a stream or list at one go: a page, and whether there is more
SNAPSHOT_VERSIONS = 32  # of a document, for which the body is kept once
RECEIPT_SECONDS = 7 * 86_400  # in which a repeated request is recognised
BLOB_CHUNK_BYTES = 262_144
MAX_BLOB_BYTES = 4_000_000_000
MAX_SWEPT_BLOBS = 1_000  # in one transaction

# The relay: documents

MAX_DOCUMENT_BYTES = 1_000_000  # of the state of a thread
MAX_JSON_LEVELS = 64
MAX_PATCH_OPERATIONS = 1_000

# The relay: what agents are shown

PREVIEW_BYTES = 2_048  # of an artifact
MAX_NAME_CHARACTERS = 200  # of a thread or artifact

# The relay: what agents may ask

DEFAULT_NOTE_CHARACTERS = 280
MAX_REFS = 100  # artifacts that one call names as its sources
# of an artifact that a question refers to; of a longer one its preview is read
MAX_REFERRED_BYTES = 1_000_000

# The relay: messages

MESSAGE_RETRY_SECONDS = 1.0  # after such an answer, and what a sender is told to wait
MAX_TTL_MILLISECONDS = 30 * 86_400_000
INDEXED_MESSAGES = 1_000  # made searchable in one transaction

# The relay: its socket

MAX_FRAME_BYTES = 1_048_576
HELLO_SECONDS = 5  # for a client to say who it is
SOCKET_HEARTBEAT_SECONDS = 15
MAX_INFLIGHT_MESSAGES = 256  # delivered to one client and not acknowledged
MAX_SERVICE_SECONDS = 600
MAX_SCREEN_CHARACTERS = 20_000  # of what a terminal shows, its end where it is more

# The relay: services

MAX_SERVICE_REQUESTS = 1_024  # of one service, not yet answered
MAX_SERVICE_RESULT_BYTES = 1_000_000  # so that it fits into one frame with its envelope

# The relay: over HTTP

MAX_WEB_BODY_BYTES = 16_000_000  # of JSON
UPLOAD_CHUNK_SECONDS = 60  # for the next part of an upload
CLIENT_SECONDS = 120.0  # for one answer of the relay

# The relay: its pages

UI_PAGE_ROWS = 50  # of a list on one page
MAX_UI_SHOWN_BYTES = 100_000  # of an artifact, and of the difference of two states
MAX_PLOTTED_EVENTS = 2_000  # the latest of a thread

# The relay: bundles

MAX_BUNDLE_BYTES = 2_000_000_000  # of one, unpacked
MAX_BUNDLE_FILES = 100_000
# of its events, of its versions, and of what is known of its artifacts
MAX_BUNDLE_TEXT_BYTES = 64_000_000
MAX_BUNDLE_LINES = 100_000  # of each of these
# that the versions of its state have together, about, when it is exported
MAX_BUNDLE_STATE_BYTES = 400_000_000

# Wrapped programs

MAX_WAITING_TEXTS = 1_000  # that are to be typed in
WRAPPER_END_SECONDS = 5.0  # for the last commands of a program that has ended

# The coding agent: its model

MAX_MODEL_EVENT_BYTES = 1_000_000  # one event, or line, of a stream
MAX_MODEL_ERROR_CHARACTERS = 300  # shown of what a server says went wrong
MAX_MODEL_CALLS = 16  # in one answer
DEFAULT_MODEL_WINDOW_TOKENS = 8_192  # that Ollama loads a model with, where nobody says

# The agent: its tools

OBSERVATION_TOKENS = 400  # of what the model is told of one call
MAX_ARTIFACT_BYTES = 2_000_000  # kept of what one call gave, half of it from the end
MAX_EDITED_BYTES = 1_000_000  # of a file that is edited or written
MAX_WHOLE_LINES = 120  # of a file that may be replaced as a whole
MAX_SHOWN_FILES = 200  # whose shown lines are remembered
MAX_SNAPSHOT_FILE_BYTES = 10_000_000  # of a file that is kept for that
PROGRESS_SECONDS = 0.25  # between two looks at what a command prints

# Briefs and summaries of sessions

MIN_BRIEF_TOKENS = 60
BRIEF_MESSAGE_CHARACTERS = 200  # of one of them

# The coding agent: its turns and sessions

MIN_WINDOW_TOKENS = 2_048  # of a model that the agent works with
MAX_AGENTS_BYTES = 200_000  # of AGENTS.md
