-- What a person has seen of terminals.
-- docs/database.md explains the tables.

-- When a person last looked at it; NULL: never.
ALTER TABLE terminals ADD COLUMN seen_at_ms INTEGER;

PRAGMA user_version = 15;
