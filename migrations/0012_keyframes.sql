-- Screens that a recording can be played from, without its beginning: each is made again of the newest one
-- before an offset and the output after it.
-- docs/database.md explains the tables.

CREATE TABLE screen_keyframes (
    terminal  TEXT    NOT NULL REFERENCES terminals (id),
    -- The output up to here is in the dump.
    at_offset INTEGER NOT NULL CHECK (at_offset >= 0),
    -- Bytes of the dump, before packing.
    length    INTEGER NOT NULL,
    -- 0: as it is; 1: one zstd frame.
    encoding  INTEGER NOT NULL CHECK (encoding IN (0, 1)),
    data      BLOB    NOT NULL,
    PRIMARY KEY (terminal, at_offset)
) STRICT;

PRAGMA user_version = 12;
