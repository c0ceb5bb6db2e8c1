-- What an agent asked its shell to run, without what the agent writes around it.
-- docs/database.md explains the tables.

-- NULL: the terminal's own command is shown as its argv.
ALTER TABLE terminals ADD COLUMN agent_line TEXT;
-- Of command 0 alone, the same.
ALTER TABLE commands ADD COLUMN agent_line TEXT;

PRAGMA user_version = 9;
