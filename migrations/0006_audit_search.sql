-- The audit by time and by who asked, and the reads of a year of it.
-- docs/database.md explains the tables.

-- Read from the details, which the chain's hash is over, and stored nowhere else.
ALTER TABLE audit ADD COLUMN verdict TEXT
    GENERATED ALWAYS AS (CASE WHEN json_valid(detail) THEN json_extract(detail, '$.verdict') END) VIRTUAL;
ALTER TABLE audit ADD COLUMN program TEXT
    GENERATED ALWAYS AS (CASE WHEN json_valid(detail) THEN json_extract(detail, '$.program') END) VIRTUAL;

-- The two that a year's records are looked through for. All others are read past: a million
-- records in half a second.
CREATE INDEX audit_time ON audit (at_ms);
-- What is rare and is what one looks for.
CREATE INDEX audit_notable ON audit (verdict, seq)
    WHERE verdict IS NOT NULL AND verdict <> 'safe';

PRAGMA user_version = 6;
