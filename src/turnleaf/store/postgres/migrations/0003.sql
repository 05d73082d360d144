-- What makes the names of spaces unreadable in hints that one has changed.
ALTER TABLE turnleaf.migrations ADD COLUMN salt text NOT NULL DEFAULT gen_random_uuid();

-- The models whose vectors a space keeps: the one that answers questions, and one whose vectors are
-- still being made. A vector belongs to one of them, so that both can be there at once.
CREATE TABLE turnleaf.embedders (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    id int NOT NULL,
    name text NOT NULL,
    dimension int NOT NULL,
    scripts text NOT NULL,
    mean float8 NOT NULL,
    deviation float8 NOT NULL,
    is_serving boolean NOT NULL,
    PRIMARY KEY (space, id)
);
ALTER TABLE turnleaf.embedders ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_space ON turnleaf.embedders
    USING (space = current_setting('turnleaf.space', true));

-- The passages that have no vector of a model yet. A row here is written sooner than a passage
-- again, which stands in seven indexes.
CREATE TABLE turnleaf.unembedded (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    embedder int NOT NULL,
    passage bigint NOT NULL,
    PRIMARY KEY (space, embedder, passage)
);
CREATE INDEX unembedded_by_passage ON turnleaf.unembedded (space, passage);
ALTER TABLE turnleaf.unembedded ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_space ON turnleaf.unembedded
    USING (space = current_setting('turnleaf.space', true));

-- The owner sees the rows of all spaces only meanwhile.
ALTER TABLE turnleaf.indexes NO FORCE ROW LEVEL SECURITY;
ALTER TABLE turnleaf.passages NO FORCE ROW LEVEL SECURITY;
ALTER TABLE turnleaf.indexes ADD COLUMN last_embedder int NOT NULL DEFAULT 0;
UPDATE turnleaf.indexes SET last_embedder = 1 WHERE model IS NOT NULL;
INSERT INTO turnleaf.embedders (space, id, name, dimension, scripts, mean, deviation, is_serving)
    SELECT space, 1, model, dimension, scripts, mean, deviation, true
    FROM turnleaf.indexes WHERE model IS NOT NULL;
INSERT INTO turnleaf.unembedded (space, embedder, passage)
    SELECT space, 1, passages.id FROM turnleaf.passages JOIN turnleaf.embedders USING (space)
    WHERE NOT has_vector AND scripts <> '';
ALTER TABLE turnleaf.indexes FORCE ROW LEVEL SECURITY;
ALTER TABLE turnleaf.passages FORCE ROW LEVEL SECURITY;
ALTER TABLE turnleaf.embedders FORCE ROW LEVEL SECURITY;
ALTER TABLE turnleaf.unembedded FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.indexes DROP COLUMN model, DROP COLUMN scripts, DROP COLUMN mean,
    DROP COLUMN deviation, DROP COLUMN dimension;
ALTER TABLE turnleaf.passages DROP COLUMN has_vector;

ALTER TABLE turnleaf.vectors ADD COLUMN embedder int NOT NULL DEFAULT 1;
ALTER TABLE turnleaf.vectors ALTER COLUMN embedder DROP DEFAULT;
ALTER TABLE turnleaf.vectors DROP CONSTRAINT vectors_pkey;
ALTER TABLE turnleaf.vectors ADD PRIMARY KEY (space, embedder, meaning, part);
