-- Output in the middle of a transcript that is not kept: beyond a quota, or while the disk had no
-- room for it. What stands before and after it is there.
-- docs/database.md explains the tables.

CREATE TABLE transcript_gaps (
    terminal     TEXT    NOT NULL REFERENCES terminals (id),
    start_offset INTEGER NOT NULL CHECK (start_offset >= 0),
    end_offset   INTEGER NOT NULL CHECK (end_offset > start_offset),
    -- 'terminal_quota', 'total_quota', 'free_floor', 'lost'; others may come.
    cause        TEXT    NOT NULL,
    -- When it last grew.
    at_ms        INTEGER NOT NULL,
    PRIMARY KEY (terminal, start_offset)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 8;
