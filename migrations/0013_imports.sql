-- Recordings that were made elsewhere.
-- docs/database.md explains the tables.

-- When it was imported; NULL: it ran in this daemon. Retention counts its age from here.
ALTER TABLE terminals ADD COLUMN imported_at_ms INTEGER;

-- The history leaves out what was run elsewhere.
CREATE INDEX terminals_imported ON terminals (id) WHERE imported_at_ms IS NOT NULL;

PRAGMA user_version = 13;
