-- Commands are listed by time and searched by text.
-- docs/database.md explains the tables.

CREATE INDEX commands_time ON commands (started_at_ms);
CREATE INDEX commands_terminal_time ON commands (terminal, started_at_ms);

-- Any three characters of a command line, whatever their case. It holds no text of its own:
-- the triggers keep it as `commands` is.
CREATE VIRTUAL TABLE commands_text USING fts5 (
    text,
    content = 'commands',
    content_rowid = 'seq',
    tokenize = 'trigram'
);

CREATE TRIGGER commands_text_insert AFTER INSERT ON commands
BEGIN
    INSERT INTO commands_text (rowid, text) VALUES (NEW.seq, NEW.text);
END;

CREATE TRIGGER commands_text_delete AFTER DELETE ON commands
BEGIN
    INSERT INTO commands_text (commands_text, rowid, text) VALUES ('delete', OLD.seq, OLD.text);
END;

-- A terminal's own command is written anew with each change of the terminal's state.
CREATE TRIGGER commands_text_update AFTER UPDATE OF text ON commands
WHEN OLD.text IS NOT NEW.text
BEGIN
    INSERT INTO commands_text (commands_text, rowid, text) VALUES ('delete', OLD.seq, OLD.text);
    INSERT INTO commands_text (rowid, text) VALUES (NEW.seq, NEW.text);
END;

INSERT INTO commands_text (commands_text) VALUES ('rebuild');

PRAGMA user_version = 2;
