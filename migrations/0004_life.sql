-- What bounds a terminal's life, why it was closed, and what its screen is made of again with.

-- Why it was closed, where nobody asked for it: 'idle', 'disconnect'. Others may come.
ALTER TABLE terminals ADD COLUMN close_cause TEXT;
-- Closed after so many milliseconds without activity; NULL: never.
ALTER TABLE terminals ADD COLUMN idle_timeout_ms INTEGER;
-- As of the last time that the row was written, its end at the latest.
ALTER TABLE terminals ADD COLUMN last_activity_ms INTEGER;
-- Lines of scrollback that its screen keeps; NULL: as many as every screen.
ALTER TABLE terminals ADD COLUMN scrollback_lines INTEGER;
-- The size it was started with: its output is fed to a screen of that size first. NULL in rows
-- that are older than this column; `cols` and `rows` are the size it had last.
ALTER TABLE terminals ADD COLUMN first_cols INTEGER;
ALTER TABLE terminals ADD COLUMN first_rows INTEGER;

PRAGMA user_version = 4;
