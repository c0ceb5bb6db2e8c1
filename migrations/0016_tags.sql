-- The words that group terminals.
-- docs/database.md explains the tables.

-- JSON array of tags, sorted; NULL: none.
ALTER TABLE terminals ADD COLUMN tags TEXT;

PRAGMA user_version = 16;
