"""Every bound of the program, in one place. The unit comes last in the name."""

from __future__ import annotations

# Files that are worth indexing
MAX_FILE_BYTES = 1_000_000

# Settings
MAX_SETTINGS_BYTES = 1_000_000  # of one file

# Indexing
GIT_SECONDS = 40  # for git to list the files
GIT_PATIENCE_SECONDS = 2.0  # until it is looked whether git waits for a pipe
MAX_DIFF_BYTES = 50_000_000  # that git may say of what has changed
MAX_CONTENT_BYTES = 50_000_000  # of a text that is handed to a command
MAX_UNTRACKED_FILES = 1_000  # of which the lines are read
MAX_PLACED_FILES = 400  # of a change, that are read on both sides
MAX_HISTORY_COMMITS = 100  # the latest that touched what has changed
MAX_SUBJECT_COMMITS = 2_000  # whose subjects are compared with a task
MAX_HISTORY_BYTES = 8_000_000  # of what git says about them
MAX_COMMIT_LINES = 3_000  # written by one commit, above which it says little of any of them
MAX_KEPT_HISTORIES = 32  # files beside the index
MAX_KEPT_INDEXES = 3  # of one user in one repository: it may have been elsewhere, or the user's key another one
MAX_SUBMODULE_LEVELS = 8  # submodules of submodules
MAX_WORKER_PROCESSES = 16
WORKER_START_SECONDS = 30  # for one to load its program; then the work is done without them
WORKER_SILENCE_SECONDS = 40  # for one file; some grammars can be led to search for a very long time
FIRST_BUILD_SECONDS = 300  # for another process to finish the first index there is

# The daemon: starting and asking it
DAEMON_START_SECONDS = 30  # for one to listen
DAEMON_CONNECT_SECONDS = 1.0
DAEMON_RECEIPT_SECONDS = 2.0  # for it to say that a request has been read
DAEMON_STOP_SECONDS = 10
MAX_DAEMONS_LISTED = 1_000

# The daemon: what one client, and all of them, may ask
MAX_CONNECTIONS = 256
MAX_REQUEST_BYTES = 1_000_000  # of one line
MAX_REQUEST_ID_CHARACTERS = 200
MAX_CLIENT_REQUESTS = 64  # of one connection, not yet answered
MAX_WAITING_REQUESTS = 1_024  # of all
MAX_UNSENT_BYTES = 32_000_000  # answers that one client does not take
MAX_ANSWER_BYTES = 8_000_000
REQUEST_SECONDS = 30  # for one answer, where the request does not say
MAX_REQUEST_SECONDS = 600
MAX_OPEN_REPOSITORIES = 4  # that one process asks at a time without a daemon

# Hooks of agents
HOOK_SECONDS = 8.0  # for an answer, after which nothing is said
MAX_HOOK_BYTES = 4_000_000  # of a call
MAX_OUTLINED_FILES = 500  # remembered of one session

# The daemon: its processes
MAX_ANALYSIS_PROCESSES = 3
SPARE_PROCESS_SECONDS = 20  # without work, until one beside the first ends
CANCEL_GRACE_SECONDS = 0.5  # for a question that nobody waits for any more to end by itself
PROCESS_RESTING_BYTES = 130_000_000  # one that has nothing to do and holds more is replaced
PROCESS_MOST_BYTES = 600_000_000  # one that holds more is replaced after the question
RESTING_SECONDS = 5.0  # without a question
ANSWER_CACHE_BYTES = 16_000_000
MAX_LOG_BYTES = 500_000
PROGRESS_SECONDS = 0.1  # between two words on how far the work has come

# The daemon: watching files
MAX_WATCHED_DIRECTORIES = 100_000
MAX_CHANGED_PATHS = 100  # beyond, all files are looked at
MAX_EVENT_READS = 1_000  # of the queue of the kernel, at one go
MAX_WATCH_ROUNDS = 8  # looks for directories that were made while others were being watched
SETTLE_SECONDS = 0.01  # after a change, before the index is refreshed without being asked
RESCAN_SECONDS = 600  # between looks at all files, for what no event tells

# Databases
DATABASE_BUSY_MILLISECONDS = 5_000
DATABASE_RETRY_SECONDS = 0.01
DATABASE_KEPT_LOG_BYTES = 2_000_000  # a longer write-ahead log is copied into its database when that is closed

# Tokens
PIECE_CACHE_PIECES = 65_536  # distinct pieces of text whose token count is remembered
PIECE_WINDOW_BYTES = 256  # longer pieces are merged window by window: merging is quadratic
PIECE_OVERLAP_BYTES = 128  # what a window sees beyond the tokens taken from it: the longest token
WINDOW_CACHE_WINDOWS = 64  # merged windows that are remembered, for text that repeats itself
ESTIMATE_FILL_PERCENT = 97  # how far a budget is filled when the vocabulary is only estimated

# Answers in time
DEFAULT_ANSWER_SECONDS = 120  # of a command that no daemon answers, once the index is up to date

# Packs
DEFAULT_BUDGET_TOKENS = 2_000
DEFAULT_DEPTH_HOPS = 2
DEFAULT_SLICE_TOKENS = 1_000
DEFAULT_PACKET_TOKENS = 400
MAX_BUDGET_TOKENS = 200_000
MAX_DEPTH_HOPS = 8
MAX_NEIGHBOURS_SYMBOLS = 200  # callers or callees taken of one symbol; a hub has thousands
MAX_EXPANDED_SYMBOLS = 16  # symbols of one hop whose own neighbours are looked at
MAX_SIBLING_SYMBOLS = 16  # of the file of a target, the nearest
MAX_CANDIDATES_SYMBOLS = 500
MAX_USED_SYMBOLS = 64  # types, bases and constants taken of one symbol
MAX_REEXPORT_HOPS = 8  # imports through which a mentioned name is followed
MAX_CUT_BODIES = 4  # bodies of which a pack tries to show the first lines
MAX_CUT_ROUNDS = 16  # looks at how much of a body fits
MAX_REFUSALS_STEPS = 16  # steps found too large before a pack counts as full
SETTLE_ROUNDS = 6  # a pack that prints its own size is counted until the figure stands

# What readers have been shown
MAX_SESSIONS = 200
SESSION_SECONDS = 14 * 86_400  # without a question, until a session is forgotten
MAX_SESSION_BYTES = 4_000_000  # of what one session was sent, compressed
MAX_SESSION_CHARACTERS = 200  # of its name
MAX_VERSION_BYTES = 400_000  # of a text that is kept to compare the next version with
MAX_VERSIONS_BYTES = 8_000_000  # of all of them, compressed
MAX_DIFF_LINES = 4_000  # of two versions that are compared

# Flow inside functions
MAX_KEPT_FLOW_FILES = 32  # whose routines stay in memory
MAX_SLICED_CALLEES = 20  # functions that one slice goes into

# Reports of coverage and of failed tests
MAX_REPORT_BYTES = 200_000_000
MAX_REPORT_FILES = 256  # data files of the processes of one run
MAX_COVERED_LINE = 1_000_000  # no source that is indexed has more lines
MAX_COVERAGE_ROWS = 5_000_000  # of one data file
MAX_XML_LEVELS = 200
MAX_FAILURES = 1_000  # of one run
MAX_FAILURE_FRAMES = 200  # of one failure, the last ones
MAX_MESSAGE_CHARACTERS = 160  # of a failure
MAX_FAILURE_TARGETS = 8  # failed tests, and suspicious functions, that one pack is about
MAX_PATH_MAPS = 20
MAX_CHANGE_TESTS = 50  # that ran changed lines, and are offered to a pack
RUN_SECONDS = 3_600  # for a program that is run for its coverage
MAX_RUN_OUTPUT_BYTES = 4_000_000  # kept of what it prints, half of it from the end
MAX_KEPT_RUNS = 5

# Lookups
MAX_LOOKUP_SYMBOLS = 1_000  # what a lookup may mean before it is cut

# Searching for text
EXPRESSION_SECONDS = 10  # of processor time, for a regular expression in all files

# The embedder that a user may choose
EMBEDDER_SECONDS = 60  # for one reply
EMBEDDER_REQUEST_TEXTS = 32
EMBEDDER_REPLY_BYTES = 50_000_000
EMBEDDED_CHARACTERS = 4_000  # of a unit or question

# Questions
MAX_ARGUMENT_CHARACTERS = 4_000
MAX_ARGUMENT_VALUES = 200  # of one parameter
MAX_TARGET_SYMBOLS = 50  # what one pack may be about
MAX_LINE_NAMES = 100  # names of one line whose definitions are looked up
MAX_COMPLETED_SYMBOLS = 60  # offered to a shell

# Answers
MAX_PAGE_ENTRIES = 5_000
MAX_SHOWN_LINES = 20_000
MAX_FOUND_SYMBOLS = 1_000_000  # counted, not shown: a page says how many there are
MAX_SEARCHED_SYMBOLS = 600  # whose users are looked for on the way from a change to its tests
MAX_AFFECTED_TESTS = 1_000  # of one change, above which the search ends
MAX_CHANGED_SYMBOLS = 2_000  # from which that search starts
MAX_OUTLINE_CHARACTERS = 100  # of a signature in a map
MAX_OUTLINE_TRIES = 40  # lines that a map tries to add when the next heaviest does not fit
MAX_LISTED_DIFFERENCES = 4  # of one function from another
MAX_DIFFERENCE_CHARACTERS = 40  # of each side of one
MAX_CLUSTER_FUNCTIONS = 50  # listed of one cluster
MAX_COMMAND_TESTS = 40  # named one by one in a command; of more, their files
MAX_LISTED_FILES = 10  # that an ambiguous path may mean
MAX_LISTED_MEMBERS = 12  # of a cycle beside those that are on the way around
MAX_LISTED_SITES = 6  # lines of one edge
MAX_NAMES_CHARACTERS = 100  # of the names imported together
MAX_COLUMN_CHARACTERS = 120  # of a cell that its column is as wide as
MAX_SIGNATURE_CHARACTERS = 160

# The relay: its store
MAX_GROUP_JOBS = 256  # written in one transaction
MAX_WAITING_JOBS = 10_000  # writes that wait for the disk
MAX_READ_ENTRIES = 1_000  # of a stream or list at one go
SNAPSHOT_VERSIONS = 32  # of a document, for which the body is kept once
RECEIPT_SECONDS = 7 * 86_400  # in which a repeated request is recognised
INLINE_BLOB_BYTES = 32_768  # larger blobs are files
BLOB_CHUNK_BYTES = 262_144
MAX_BLOB_BYTES = 4_000_000_000
MAX_SWEPT_BLOBS = 1_000  # in one transaction
MAX_CACHE_BYTES = 256_000_000  # of answers
MAX_EVICTED_ANSWERS = 64  # that make room at one go

# The relay: documents
MAX_DOCUMENT_BYTES = 1_000_000  # of the state of a thread
MAX_JSON_LEVELS = 64
MAX_PATCH_OPERATIONS = 1_000

# The relay: what agents are shown
HEADER_BYTES = 2_048  # of JSON, of the header of a thread's state
HEADER_TEXT_CHARACTERS = 120  # of one text in a header that has too little room
PREVIEW_BYTES = 2_048  # of an artifact
PREVIEW_HEAD_BYTES = 262_144  # of an artifact that a preview is made from
PREVIEW_TAIL_BYTES = 65_536
PREVIEW_LEVELS = 4  # of JSON
PREVIEW_MEMBERS = 24  # of one object, or elements of one array
SEARCHED_BYTES = 200_000  # of an artifact that are found by their words
MAX_NAME_CHARACTERS = 200  # of a thread or artifact
MIN_REF_CHARACTERS = 6  # of an artifact's hash that stand for it

# The relay: what agents may ask
DEFAULT_PAYLOAD_BYTES = 16_384
DEFAULT_NOTE_CHARACTERS = 280
DEFAULT_HOPS = 50
MAX_RATED_ACTORS = 10_000  # whose calls are counted; the longest silent are forgotten
MAX_ENVELOPE_SECONDS = 86_400
MAX_REFS = 100  # artifacts that one call names as its sources
CALL_SECONDS = 120  # for a call that somebody else makes already
INLINE_ANSWER_BYTES = 16_384  # of a call, that are sent with its answer
FETCH_SECONDS = 20
FETCH_BYTES = 10_000_000
FETCH_REDIRECTS = 5
DEFAULT_FOUND_ARTIFACTS = 10
MAX_FOUND_ARTIFACTS = 100
MAX_MIRRORED_EVENTS = 100_000  # the latest of a thread
MAX_MIRRORED_BYTES = 1_000_000_000  # of the artifacts of one thread
MAX_REFERRED_BYTES = 1_000_000  # of an artifact that a question refers to; of a longer one its preview is read
INLINE_CASSETTE_SHARE = 4  # an artifact of at most 1 in so many tokens of the budget is shown whole
CASSETTE_HEAD_SHARE = 20  # of one that is referred to, 1 in so many tokens of the budget show its beginning

# The relay: messages
MAX_MAILBOX_MESSAGES = 100_000  # that wait for one recipient
MAX_MAILBOX_BYTES = 256_000_000
MAX_GROUP_POSTS = 1_024  # messages written as one job of the store
MAX_RESTING_MARKS = 256  # notes on deliveries that wait for a message to be written with
MAX_NOTES_AHEAD = 128  # not yet written, beyond which nothing is fetched from the disk to be delivered
MARK_REST_SECONDS = 0.02  # for which they wait
MAX_WAITING_POSTS = 20_000  # messages, and notes about them, that wait for the disk
MAX_IDENTITIES = 100_000
MAX_CHANNELS = 10_000
MAX_CHANNEL_MEMBERS = 1_000
MESSAGE_ENVELOPE_BYTES = 4_096  # what a delivery may add to what was sent
MESSAGE_KEPT_SECONDS = 30 * 86_400  # after which one that nobody waits for is forgotten
MAX_MESSAGE_ATTEMPTS = 10  # that a recipient answers with "later", until it is a dead letter
MESSAGE_RETRY_SECONDS = 1.0  # after such an answer, and what a sender is told to wait
MAX_TTL_MILLISECONDS = 30 * 86_400_000
INDEXED_MESSAGES = 1_000  # made searchable in one transaction

# The relay: its socket
MAX_FRAME_BYTES = 1_048_576
MAX_SOCKET_CLIENTS = 1_000
HELLO_SECONDS = 5  # for a client to say who it is
SOCKET_TICK_SECONDS = 1.0  # between looks for clients that are silent and messages that expire
SOCKET_HEARTBEAT_SECONDS = 15
SOCKET_SILENCE_SECONDS = 60  # in spite of heartbeats, after which a client is left
MAX_INFLIGHT_MESSAGES = 256  # delivered to one client and not acknowledged
MAX_UNANSWERED_FRAMES = 256  # of one client, beyond which it is not read
SOCKET_OUTPUT_BYTES = 1_048_576  # not taken by one client, beyond which it is neither read nor sent messages
SOCKET_SAID_BYTES = 262_144  # sent together
PUMPED_MESSAGES = 64  # read from the disk at one go
MAX_SUBSCRIPTIONS = 256  # topics of one client
MAX_SERVICE_SECONDS = 600

# The relay: services
MAX_SERVICE_CAPABILITIES = 100  # of one service
MAX_SERVICE_TEXT_CHARACTERS = 1_000  # of what it says of itself or of one of them
MAX_SERVICE_SCHEMA_BYTES = 10_000
MAX_SERVICE_REQUESTS = 1_024  # of one service, not yet answered
MAX_ASKED_REQUESTS = 64  # of those, of one asker
MAX_SERVICE_RESULT_BYTES = 1_000_000  # so that it fits into one frame with its envelope
MAX_SERVICE_CALLS = 32  # calls that wait for services at a time, so that others have threads left
MAX_MEASURED_METHODS = 1_000  # whose figures are kept apart
SERVICE_RECONNECT_SECONDS = 5.0  # the longest pause of a service between two tries to reach the relay
BRIDGE_CONNECT_SECONDS = 2.0
BRIDGE_TRIES = 3  # of one question, where the connection is lost
MAX_BRIDGED_WORKSPACES = 16  # connected to at a time
MAX_FALLBACK_CHARACTERS = 200  # of what somebody asked for, in a command to try instead

# The relay: over HTTP
MAX_WEB_BODY_BYTES = 16_000_000  # of JSON
MAX_KEY_CHARACTERS = 200  # of idempotency
WEB_THREADS = 64  # that wait for the disk
WEB_CALL_THREADS = 64  # that wait for capabilities
MAX_EVENT_STREAMS = 256
MAX_WEB_CONNECTIONS = 1_000  # above which those that ask for nothing are closed at once
REQUEST_HEAD_SECONDS = 10  # for a request to begin, once a connection is open
HEARTBEAT_SECONDS = 15
UPLOAD_CHUNK_SECONDS = 60  # for the next part of an upload
RELAY_PORTS = 100  # that are tried, from the one that was asked for
RELAY_START_SECONDS = 30
RELAY_STOP_SECONDS = 20
THREAD_SWITCH_SECONDS = 0.001  # for which the loop may keep the thread that writes from going on, and vice versa
RELAY_DRAIN_SECONDS = 10  # for requests that are being answered when it ends
SWEEP_EVERY_SECONDS = 3_600
SWEEP_AFTER_SECONDS = 86_400  # for which an artifact that no thread refers to stays
CLIENT_SECONDS = 120.0  # for one answer of the relay
EVENT_SILENCE_SECONDS = 60.0  # of a stream of events, after which it is opened again

# The relay: its pages
UI_TICKET_SECONDS = 120  # in which a browser has to show the ticket that it was opened with
UI_SESSION_SECONDS = 12 * 3_600
MAX_UI_TICKETS = 32  # not used yet
MAX_UI_SESSIONS = 32
MAX_UI_FORM_BYTES = 10_000
UI_PAGE_ROWS = 50  # of a list on one page
MAX_UI_SHOWN_BYTES = 100_000  # of an artifact, and of the difference of two states
MAX_UI_TEXT_CHARACTERS = 400  # of one value in a list
MAX_UI_IMAGE_BYTES = 5_000_000
MAX_PLOTTED_EVENTS = 2_000  # the latest of a thread
MAX_UI_QUERY_CHARACTERS = 2_000  # of one parameter

# The relay: bundles
MAX_BUNDLE_BYTES = 2_000_000_000  # of one, unpacked
MAX_BUNDLE_FILES = 100_000
MAX_BUNDLE_TEXT_BYTES = 256_000_000  # of its events and versions
MAX_REPLAYED_CALLS = 1_000
MAX_COMPARED_BYTES = 1_000_000  # of two answers whose lines are compared
MAX_SHOWN_CHANGES = 20  # lines
MAX_TRIED_CHUNKS = 1_000  # of an answer

# Wrapped programs
MAX_SEQUENCE_CHARACTERS = 256  # of one control sequence
MAX_JOINED_CHARACTERS = 16  # in one cell: what has no width of its own joins the character before
MAX_SCREEN_CELLS = 1_000  # of columns, and of rows
MAX_TERMINAL_MODES = 64  # switched on at a time
MAX_BLOCK_CHARACTERS = 200_000  # of a message on several lines
MAX_BLOCK_LINES = 2_000
MAX_FENCED_LINES = 1_000  # of a code block that nobody closes, after which commands count again
MAX_CONTINUED_ROWS = 60  # of one line that a program has broken to fit the screen
MAX_REMEMBERED_COMMANDS = 512  # told of one program, so that drawing them again is not saying them again
MAX_LINE_ROWS = 500  # of one line that a terminal has broken
MAX_HALF_TYPED_CHARACTERS = 1_000  # of what a user has typed and not sent
MAX_ENTER_PRESSES = 4  # for one text
RECONNECT_SECONDS = 20.0  # for which what a program says waits for the relay
MAX_SEND_TRIES = 5  # of one message
MAX_TYPED_BYTES = 3_500  # of a text that is typed in whole; terminals that edit lines cut longer ones
TYPED_PREVIEW_CHARACTERS = 600  # of a longer one
MAX_WAITING_TEXTS = 1_000  # that are to be typed in
MAX_UNWRITTEN_BYTES = 1_000_000  # that a program has not taken from its terminal
TERMINAL_CHUNK_BYTES = 65_536  # read from a terminal at once
MAX_LAST_BYTES = 4_000_000  # read of what a program wrote before it ended
WRAPPER_END_SECONDS = 5.0  # for the last commands of a program that has ended
MAX_SPAWNED_PROGRAMS = 16  # of one program, at a time
MAX_WAITING_COMMANDS = 1_000  # of one program, not yet done
MAX_NAME_TRIES = 100  # numbers behind the name of a program
WRAPPER_START_SECONDS = 30.0  # for a program to run in a session of tmux

# The coding agent: its model
MODEL_CONNECT_SECONDS = 5.0
MODEL_SILENCE_SECONDS = 300.0  # of a server that is asked for an answer: a long prompt is evaluated without a word
MODEL_PROBE_SECONDS = 60.0  # for each small question that finds out what a server can do
MAX_MODEL_EVENT_BYTES = 1_000_000  # one event, or line, of a stream
MAX_MODEL_REPLY_BYTES = 8_000_000  # of an answer that is not streamed
MAX_MODEL_ANSWER_BYTES = 50_000_000  # of one stream
MAX_MODEL_ERROR_CHARACTERS = 300  # shown of what a server says went wrong
MAX_MODEL_CALLS = 16  # in one answer
MAX_TOKEN_CHARACTERS = 128  # of one token in the vocabularies in use: a row of blanks
MODEL_PROBE_TOKENS = 160  # of an answer that shows what a server can do
DEFAULT_MODEL_WINDOW_TOKENS = 8_192  # that Ollama loads a model with, where nobody says

# The agent: its tools
OBSERVATION_TOKENS = 400  # of what the model is told of one call
MAX_OBSERVED_LINE_CHARACTERS = 400  # of one line in it
FOLDED_CHARACTERS = 200  # of a piece of a line that is read on
MAX_ARTIFACT_BYTES = 2_000_000  # kept of what one call gave, half of it from the end
MAX_ARTIFACTS = 500  # kept of one session; the oldest give way
MAX_PATH_CHARACTERS = 1_000  # of a file that is read or written
MAX_EDITED_BYTES = 1_000_000  # of a file that is edited or written
MAX_WHOLE_LINES = 120  # of a file that may be replaced as a whole
MAX_PREVIEW_LINES = 400  # of a diff that somebody is asked about
MAX_BODY_CHARACTERS = 100_000  # of the lines that one call writes
MAX_SHOWN_FILES = 200  # whose shown lines are remembered
MAX_SNAPSHOT_FILES = 50_000  # of a repository in which what commands change can be undone
MAX_SNAPSHOT_FILE_BYTES = 10_000_000  # of a file that is kept for that
MAX_SNAPSHOT_BYTES = 200_000_000  # of all files that git does not have
MAX_SNAPSHOT_STEP_BYTES = 100_000_000  # of files that one command has changed
MAX_SNAPSHOT_STORE_BYTES = 500_000_000  # of what a session keeps for that while it goes on; then it begins anew
MAX_CHECKPOINT_BYTES = 1_000_000_000  # of what undoing needs, of all sessions; the oldest steps give way
SNAPSHOT_DAYS = 7  # after which what a program that was killed has left of them is removed
DRAFT_SECONDS = 3_600.0  # after which a file that was never put in place is nobody's
LEAST_FREE_BYTES = 500_000_000  # on a disk that a command writes to
MAX_CLOSED_SOCKETS = 1_000  # of other programs, which a command does not reach
MAX_GUARDED_FILES = 200  # of hooks, and of linked working trees
COMMAND_SECONDS = 120  # for a command of the agent
PROGRESS_SECONDS = 0.25  # between two looks at what a command prints
MAX_PROGRESS_LINES = 10  # of its output, shown while it runs
MAX_PROGRESS_BYTES = 8_192  # of its output, kept for that
COMMAND_END_SECONDS = 5.0  # for what is left of a command to be ended
COMMAND_TICK_SECONDS = 0.05  # between looks at how many processes a command has
MAX_COMMAND_PROCESSES = 512  # of one command, at a time
MAX_PATTERNS = 200  # that were allowed in one session
MAX_TOOL_SERVERS = 20  # of the Model Context Protocol
TOOL_SERVER_SECONDS = 60  # for one answer of such a server
TOOL_SERVER_IDLE_SECONDS = 300  # after which the conversation with it ends
TOOL_SERVER_CLOSE_SECONDS = 5  # for it to end

# The coding agent: calls of its tools
MAX_CALLABLE_PATHS = 40_000  # that a grammar lists; of more, names are checked when they are used
MAX_LISTED_PATHS = 200  # that a JSON schema lists: its reader compares them one after the other
MAX_COMPARED_PATHS = 5_000  # with one that does not exist
MAX_PROSE_LINES = 300  # before a call
MAX_PROSE_LINE_CHARACTERS = 1_500
MAX_CALL_LINE_CHARACTERS = 400  # of one value, or of one line of a raw one
MAX_CALL_CHARACTERS = 400_000  # of an answer that is searched for a call
REPEATED_CHARACTERS = 600  # that say the same again and again, at least, until a stream counts as stuck
REPEATED_TIMES = 5
MAX_CYCLE_CHARACTERS = 400  # of what is said again and again

# The coding agent: what is piped to it
MAX_PIPED_BYTES = 1_000_000_000  # that are read, most of them to be left out
MAX_PIPED_KEPT_BYTES = MAX_ARTIFACT_BYTES  # half of it from the end
PIPED_PATIENCE_SECONDS = 3.0  # until it is said what is waited for
OPENING_PATIENCE_SECONDS = 5.0  # the same for the server of the model

# Briefs and summaries of sessions
BRIEF_TOKENS = 2_000  # of a brief, where nothing else is said
RUN_BRIEF_TOKENS = 700  # of one that is typed into a program: what is longer than MAX_TYPED_BYTES would be cut
MIN_BRIEF_TOKENS = 60
BRIEF_SECONDS = 20.0  # for the brief of a program that runs already
MAX_BRIEF_MESSAGES = 50  # that wait, in one brief
BRIEF_MESSAGE_CHARACTERS = 200  # of one of them
MAX_SESSION_LINES = 200  # of each kind in a summary
MAX_LAST_ACTIONS = 100  # that a state keeps when sessions add to it
DIRECTORY_THREADS = 1_000  # the newest, among which that of a directory is looked for

# The coding agent: its turns and sessions
MIN_WINDOW_TOKENS = 2_048  # of a model that the agent works with
MAX_REPLY_TOKENS = 8_000
MAX_TURN_STEPS = 40  # requests to the model in one turn
MAX_MALFORMED_CALLS = 4  # in a row
MAX_WAITING_EVENTS = 256  # that nobody has taken yet
MAX_RETRIEVED_SYMBOLS = 3  # that were found by the words of a message
MAX_NAMED_SYMBOLS = 4  # of one message, that code is looked up around
MAX_AGENTS_BYTES = 200_000  # of AGENTS.md
MAX_CARD_CHARACTERS = 160  # of the line on the repository in every prompt
MAX_CARD_FOLDERS = 6
MAX_CARD_LANGUAGES = 3
MIN_SUMMARY_CHARACTERS = 20  # of a summary by a model, below which it says nothing
MAX_LISTED_CHATS = 1_000  # sessions of the agent in one list
