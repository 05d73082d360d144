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
