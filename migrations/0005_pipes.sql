-- Commands on pipes: standard output and error apart, in one transcript.

ALTER TABLE terminals
    ADD COLUMN stdio TEXT NOT NULL DEFAULT 'pty' CHECK (stdio IN ('pty', 'pipes'));

-- Which byte of the block came from standard error: a byte for the packing (0: as it is; 1: one
-- zstd frame), and then a bit for each byte of output, the lowest first. NULL: none did. It comes
-- and goes with its block.
ALTER TABLE transcript_blocks ADD COLUMN origins BLOB;

PRAGMA user_version = 4;
