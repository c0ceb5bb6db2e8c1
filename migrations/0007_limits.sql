-- What a command is held to, and which limit ended it.

-- JSON: the profiles' names, timeout and quota, the kinds of sandboxes, what holds and what is missing;
-- NULL: it is held to nothing.
ALTER TABLE terminals ADD COLUMN confinement TEXT;
-- 'timeout', 'output_bytes'; others may come. NULL: no limit did.
ALTER TABLE terminals ADD COLUMN end_cause TEXT;

PRAGMA user_version = 7;
