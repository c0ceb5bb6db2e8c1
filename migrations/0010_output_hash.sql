-- The hash of what a command has printed, to hold a transcript against.
-- docs/database.md explains the tables.

-- Of command 0 alone: SHA-256 of all output, in hexadecimal. NULL: it is not known, or not all was kept.
ALTER TABLE commands ADD COLUMN output_sha256 TEXT;

PRAGMA user_version = 10;
