-- Whose terminals are.
-- docs/database.md explains the tables.

-- JSON of the agent that its opener belonged to; NULL: a person's, or of before this was kept.
ALTER TABLE terminals ADD COLUMN owner_agent TEXT;

PRAGMA user_version = 17;
