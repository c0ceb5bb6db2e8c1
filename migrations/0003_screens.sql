-- What a screen is made of again after the server was replaced: a dump of the model at an offset,
-- the bytes after it, and the sizes that the terminal had meanwhile.

CREATE TABLE screens (
    terminal  TEXT    PRIMARY KEY REFERENCES terminals (id),
    -- The output up to here is in the dump.
    at_offset INTEGER NOT NULL CHECK (at_offset >= 0),
    -- Bytes of the dump, before packing.
    length    INTEGER NOT NULL,
    -- 0: as it is; 1: one zstd frame.
    encoding  INTEGER NOT NULL CHECK (encoding IN (0, 1)),
    data      BLOB    NOT NULL
) STRICT;

-- Every size but the first, which is the terminal's own; of two at one offset the later one.
CREATE TABLE terminal_sizes (
    terminal  TEXT    NOT NULL REFERENCES terminals (id),
    at_offset INTEGER NOT NULL CHECK (at_offset >= 0),
    cols      INTEGER NOT NULL,
    rows      INTEGER NOT NULL,
    PRIMARY KEY (terminal, at_offset)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 3;
