-- When terminals were given their sizes.
-- docs/database.md explains the tables.

-- Milliseconds since the terminal's start, as the times of its output count; NULL: of before these times.
ALTER TABLE terminal_sizes ADD COLUMN at_ms INTEGER;

PRAGMA user_version = 14;
