-- When output came.
-- docs/database.md explains the tables.

-- A byte for the packing (0: as it is; 1: one zstd frame), then pairs of varints (LEB128): how many bytes,
-- and how much later they came than those before, in milliseconds times 2, plus 1 where that is not when
-- they came but when a server took over and found them. The first is counted from the terminal's start.
-- NULL: a block of before these times.
ALTER TABLE transcript_blocks ADD COLUMN times BLOB;

PRAGMA user_version = 11;
