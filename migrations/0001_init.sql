-- Terminals, what they printed, what was run in them, and who did what.
-- Append-only: a released migration is never edited, the next one is added beside it.
-- docs/database.md explains the tables. Times are milliseconds since the Unix epoch.

CREATE TABLE terminals (
    -- Order of creation; the cursor of lists.
    seq               INTEGER PRIMARY KEY,
    id                TEXT    NOT NULL UNIQUE,
    label             TEXT,
    argv              TEXT    NOT NULL,      -- JSON array of strings
    cwd               TEXT    NOT NULL,
    pid               INTEGER NOT NULL,
    cols              INTEGER NOT NULL,
    rows              INTEGER NOT NULL,
    front             TEXT    NOT NULL,
    owner_uid         INTEGER NOT NULL,
    owner_pid         INTEGER NOT NULL,
    owner_exe         TEXT,
    session           TEXT,
    client            TEXT,
    created_at_ms     INTEGER NOT NULL,
    exited_at_ms      INTEGER,
    exit_code         INTEGER,
    exit_signal       TEXT,
    released_at_ms    INTEGER,
    closed_at_ms      INTEGER,
    output_byte_limit INTEGER NOT NULL,
    -- Transcript before this was dropped by retention.
    start_offset      INTEGER NOT NULL DEFAULT 0,
    -- End of what is stored. Moved by block commits alone.
    end_offset        INTEGER NOT NULL DEFAULT 0,
    meta              TEXT                   -- JSON object
) STRICT;

-- The list of open terminals, however many closed ones are remembered.
CREATE INDEX terminals_open ON terminals (seq) WHERE closed_at_ms IS NULL;

-- Output, in blocks of at most 64 KiB. A block grows by being replaced until it is full.
CREATE TABLE transcript_blocks (
    id           INTEGER PRIMARY KEY,
    terminal     TEXT    NOT NULL REFERENCES terminals (id),
    start_offset INTEGER NOT NULL CHECK (start_offset >= 0),
    -- Bytes of output in it, before packing.
    length       INTEGER NOT NULL CHECK (length BETWEEN 1 AND 65536),
    -- 0: as it is; 1: one zstd frame.
    encoding     INTEGER NOT NULL CHECK (encoding IN (0, 1)),
    data         BLOB    NOT NULL,
    UNIQUE (terminal, start_offset)
) STRICT;

-- What retention took out of a transcript.
CREATE TABLE transcript_dropped (
    id           INTEGER PRIMARY KEY,
    terminal     TEXT    NOT NULL REFERENCES terminals (id),
    from_offset  INTEGER NOT NULL,
    to_offset    INTEGER NOT NULL,
    at_ms        INTEGER NOT NULL,
    reason       TEXT    NOT NULL CHECK (reason IN ('age', 'size')),
    UNIQUE (terminal, from_offset)
) STRICT;

CREATE TABLE commands (
    seq           INTEGER PRIMARY KEY,
    terminal      TEXT    NOT NULL REFERENCES terminals (id),
    -- Within its terminal; 0 is the terminal's own argv.
    number        INTEGER NOT NULL,
    source        TEXT    NOT NULL CHECK (source IN ('argv', 'shell')),
    text          TEXT    NOT NULL,
    cwd           TEXT,
    started_at_ms INTEGER NOT NULL,
    ended_at_ms   INTEGER,
    exit_code     INTEGER,
    exit_signal   TEXT,
    start_offset  INTEGER NOT NULL,
    -- NULL: to the end of the terminal's output.
    end_offset    INTEGER,
    UNIQUE (terminal, number)
) STRICT;

CREATE TABLE audit (
    -- From 1, without gaps.
    seq       INTEGER PRIMARY KEY,
    at_ms     INTEGER NOT NULL,
    action    TEXT    NOT NULL,
    outcome   TEXT    NOT NULL,
    front     TEXT    NOT NULL,
    uid       INTEGER NOT NULL,
    pid       INTEGER NOT NULL,
    exe       TEXT,
    session   TEXT,
    client    TEXT,
    terminal  TEXT,
    detail    TEXT    NOT NULL,              -- JSON object
    prev_hash TEXT    NOT NULL,
    hash      TEXT    NOT NULL
) STRICT;

-- The one index: every further one costs each audit record another page in the log.
CREATE INDEX audit_terminal ON audit (terminal, seq) WHERE terminal IS NOT NULL;

-- Where the chain begins: the last record that retention dropped.
CREATE TABLE audit_anchor (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    seq  INTEGER NOT NULL,
    hash TEXT    NOT NULL
) STRICT;

INSERT INTO audit_anchor (only, seq, hash)
VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000');

-- These two hold termd's own mistakes off, not an attacker: who may write the file may drop them.
CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'audit records are never changed');
END;

CREATE TRIGGER audit_is_dropped_by_retention_alone BEFORE DELETE ON audit
WHEN OLD.seq > (SELECT seq FROM audit_anchor)
BEGIN
    SELECT RAISE(ABORT, 'audit records are dropped by retention alone');
END;

-- 'trmd': what file(1) and termd know the file by.
PRAGMA application_id = 0x74726d64;
PRAGMA user_version = 1;
