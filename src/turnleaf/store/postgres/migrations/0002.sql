-- The ids of the transactions that changed something lately. Whoever lost the connection at COMMIT
-- looks here whether it was stored, and does nothing twice. They begin with the time.
CREATE TABLE turnleaf.writes (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    id text COLLATE "C" NOT NULL,
    PRIMARY KEY (space, id)
);
ALTER TABLE turnleaf.writes ENABLE ROW LEVEL SECURITY;
ALTER TABLE turnleaf.writes FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON turnleaf.writes USING (space = current_setting('turnleaf.space', true));

-- Which spaces have something to do, and who is at it. This table alone is read over all spaces, so
-- it holds nothing else of them; a space can add to no other.
CREATE TABLE turnleaf.work (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    kind text COLLATE "C" NOT NULL,
    due timestamptz NOT NULL,
    n bigint NOT NULL DEFAULT 0,
    holder text,
    held_until timestamptz,
    PRIMARY KEY (space, kind)
);
CREATE INDEX work_by_due ON turnleaf.work (due);
ALTER TABLE turnleaf.work ENABLE ROW LEVEL SECURITY;
ALTER TABLE turnleaf.work FORCE ROW LEVEL SECURITY;
CREATE POLICY own_space ON turnleaf.work FOR INSERT
    WITH CHECK (space = current_setting('turnleaf.space', true));
CREATE POLICY reading ON turnleaf.work FOR SELECT USING (true);
CREATE POLICY taking ON turnleaf.work FOR UPDATE USING (true);
CREATE POLICY finishing ON turnleaf.work FOR DELETE USING (true);

-- What is there already is looked at once. The owner sees the rows of all spaces only meanwhile.
ALTER TABLE turnleaf.schedules NO FORCE ROW LEVEL SECURITY;
ALTER TABLE turnleaf.learning_queue NO FORCE ROW LEVEL SECURITY;
ALTER TABLE turnleaf.work NO FORCE ROW LEVEL SECURITY;
INSERT INTO turnleaf.work (space, kind, due)
    SELECT DISTINCT space, 'schedules', now() FROM turnleaf.schedules
    UNION ALL
    SELECT DISTINCT space, 'learning', now() FROM turnleaf.learning_queue;
ALTER TABLE turnleaf.schedules FORCE ROW LEVEL SECURITY;
ALTER TABLE turnleaf.learning_queue FORCE ROW LEVEL SECURITY;
ALTER TABLE turnleaf.work FORCE ROW LEVEL SECURITY;

-- Which facts an answer rests on, so that those nobody used are found without reading every answer.
ALTER TABLE turnleaf.messages ADD COLUMN cited text;
CREATE INDEX messages_that_cite ON turnleaf.messages (space, id) WHERE cited IS NOT NULL;
