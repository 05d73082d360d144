-- The tables of every space. The space leads every key, so that no query reads another's rows and
-- the tables can be distributed by it. It comes from the transaction, and so does the row's own.
-- Bodies are JSON as text: the types json and jsonb cannot hold every text that was said.

CREATE TABLE turnleaf.settings (
    key text PRIMARY KEY,
    value text NOT NULL
);

-- How often each kind of thing has changed; the row is also the lock of whoever changes it.
CREATE TABLE turnleaf.counters (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    kind text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    last_id bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (space, kind)
);

CREATE TABLE turnleaf.feeds (
    space text COLLATE "C" PRIMARY KEY DEFAULT current_setting('turnleaf.space'),
    name text NOT NULL DEFAULT gen_random_uuid(),
    settled text NOT NULL DEFAULT ''
);

CREATE TABLE turnleaf.conversations (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    key text COLLATE "C" NOT NULL,
    leaf bigint NOT NULL DEFAULT 0,
    turns bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    title text NOT NULL DEFAULT '',
    imported_title text NOT NULL DEFAULT '',
    question_title text NOT NULL DEFAULT '',
    audience text NOT NULL,
    is_searched boolean NOT NULL DEFAULT true,
    PRIMARY KEY (space, key)
);
CREATE INDEX conversations_by_age ON turnleaf.conversations (space, created_at);

CREATE TABLE turnleaf.messages (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    id bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    parent bigint NOT NULL,
    is_shown boolean NOT NULL DEFAULT true,
    is_resumed boolean NOT NULL DEFAULT false,
    is_hidden boolean NOT NULL DEFAULT false,
    role text NOT NULL,
    said_at timestamptz NOT NULL,
    body text NOT NULL,
    status text NOT NULL,
    trust text NOT NULL,
    source text,
    shaped_by text,
    -- Which facts an answer rests on, so that those nobody used are found without reading every answer.
    cited text,
    change bigint NOT NULL,
    PRIMARY KEY (space, id)
);
CREATE INDEX messages_by_conversation ON turnleaf.messages (space, key, is_shown, id);
CREATE INDEX messages_by_parent ON turnleaf.messages (space, key, parent);
CREATE INDEX messages_by_change ON turnleaf.messages (space, change, id);
CREATE INDEX messages_that_cite ON turnleaf.messages (space, id) WHERE cited IS NOT NULL;

CREATE TABLE turnleaf.removed_messages (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    id bigint NOT NULL,
    change bigint NOT NULL,
    PRIMARY KEY (space, id)
);
CREATE INDEX removed_messages_by_change ON turnleaf.removed_messages (space, change, id);

CREATE TABLE turnleaf.hidden_messages (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    reason text COLLATE "C" NOT NULL,
    message bigint NOT NULL,
    PRIMARY KEY (space, reason, message)
);
CREATE INDEX hidden_messages_by_message ON turnleaf.hidden_messages (space, message);

CREATE TABLE turnleaf.forgotten_facts (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    fact text COLLATE "C" NOT NULL,
    PRIMARY KEY (space, fact)
);

CREATE TABLE turnleaf.answer_claims (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    message bigint NOT NULL,
    token text COLLATE "C" NOT NULL,
    ends_at timestamptz NOT NULL,
    PRIMARY KEY (space, message, token)
);

CREATE TABLE turnleaf.books (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    kind text COLLATE "C" NOT NULL,
    text text NOT NULL,
    older text NOT NULL,
    written_at timestamptz NOT NULL,
    last_number bigint NOT NULL,
    PRIMARY KEY (space, kind)
);

CREATE TABLE turnleaf.changes (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    kind text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (space, kind, n)
);

CREATE TABLE turnleaf.notes (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    day date NOT NULL,
    id bigint NOT NULL,
    text text NOT NULL,
    source text,
    change bigint NOT NULL,
    PRIMARY KEY (space, day, id)
);

CREATE TABLE turnleaf.schedules (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    id text COLLATE "C" NOT NULL,
    place bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (space, id)
);

CREATE TABLE turnleaf.schedule_results (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    id text COLLATE "C" NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (space, id)
);

CREATE TABLE turnleaf.learning_queue (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    id bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (space, id)
);

CREATE TABLE turnleaf.learning_outbox (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    id text COLLATE "C" NOT NULL,
    place bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (space, id)
);

CREATE TABLE turnleaf.learning_marks (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    section text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (space, section, id)
);

CREATE TABLE turnleaf.records (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    collection text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    value bytea NOT NULL,
    version bigint NOT NULL,
    expires_at timestamptz,
    PRIMARY KEY (space, collection, key)
);
CREATE INDEX records_by_end ON turnleaf.records (space, expires_at) WHERE expires_at IS NOT NULL;

-- The ids of the transactions that changed something lately. Whoever lost the connection at COMMIT
-- looks here whether it was stored, and does nothing twice. They begin with the time.
CREATE TABLE turnleaf.writes (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    id text COLLATE "C" NOT NULL,
    PRIMARY KEY (space, id)
);

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

-- The search. What is derived from the tables above can be deleted at any moment.
CREATE TABLE turnleaf.indexes (
    space text COLLATE "C" PRIMARY KEY DEFAULT current_setting('turnleaf.space'),
    state text NOT NULL DEFAULT '{}',
    passages bigint NOT NULL DEFAULT 0,
    terms bigint NOT NULL DEFAULT 0,
    last_passage bigint NOT NULL DEFAULT 0
);

CREATE TABLE turnleaf.indexed_places (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    place text COLLATE "C" NOT NULL,
    version text NOT NULL,
    PRIMARY KEY (space, place)
);

CREATE TABLE turnleaf.passages (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    id bigint NOT NULL,
    place text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    shape bytea NOT NULL,
    fingerprint bytea NOT NULL,
    meaning bytea NOT NULL,
    body text NOT NULL,
    terms int NOT NULL,
    line bigint NOT NULL,
    before bigint,
    after bigint,
    date text COLLATE "C",
    conversation text COLLATE "C",
    message bigint,
    part int NOT NULL,
    time timestamptz,
    trust text COLLATE "C" NOT NULL,
    audience text COLLATE "C" NOT NULL,
    is_shown boolean NOT NULL,
    PRIMARY KEY (space, id)
);
CREATE INDEX passages_by_place ON turnleaf.passages (space, place, message);
CREATE INDEX passages_by_message ON turnleaf.passages (space, conversation, message, part)
    WHERE message IS NOT NULL;
CREATE INDEX passages_by_day ON turnleaf.passages (space, kind, date);
CREATE INDEX passages_by_meaning ON turnleaf.passages (space, meaning);
CREATE INDEX passages_by_audience ON turnleaf.passages (space, audience, trust, conversation)
    WHERE audience <> '' OR trust NOT IN ('user', 'assistant');

CREATE TABLE turnleaf.terms (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    term text COLLATE "C" NOT NULL,
    passage bigint NOT NULL,
    own int NOT NULL,
    around int NOT NULL,
    length int NOT NULL,
    PRIMARY KEY (space, term, passage) INCLUDE (own, around, length)
);
CREATE INDEX terms_by_passage ON turnleaf.terms (space, passage);

-- The models whose vectors a space keeps: the one that answers questions, and one whose vectors are
-- still being made. The id is drawn by lot and no other space has it: an index of a large space
-- names that, and nothing that tells whose it is.
CREATE TABLE turnleaf.embedders (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    id bigint NOT NULL,
    name text NOT NULL,
    dimension int NOT NULL,
    scripts text NOT NULL,
    mean float8 NOT NULL,
    deviation float8 NOT NULL,
    is_serving boolean NOT NULL,
    PRIMARY KEY (space, id)
);

-- A vector of up to 2,000 numbers stands in its row: where each is fetched from elsewhere, to compare
-- many exactly costs half as much again.
CREATE TABLE turnleaf.vectors (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    embedder bigint NOT NULL,
    meaning bytea NOT NULL,
    part int NOT NULL,
    vector vector NOT NULL,
    PRIMARY KEY (space, embedder, meaning, part)
) WITH (toast_tuple_target = 8160);

-- The passages that have no vector of a model yet. A row here is written sooner than a passage
-- again, which stands in six indexes.
CREATE TABLE turnleaf.unembedded (
    space text COLLATE "C" NOT NULL DEFAULT current_setting('turnleaf.space'),
    embedder bigint NOT NULL,
    passage bigint NOT NULL,
    PRIMARY KEY (space, embedder, passage)
);
CREATE INDEX unembedded_by_passage ON turnleaf.unembedded (space, passage);

DO $$
DECLARE one regclass;
BEGIN
    FOR one IN
        SELECT attrelid FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = 'turnleaf'::regnamespace AND relkind = 'r' AND attname = 'space'
    LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', one);
        EXECUTE format(
            'CREATE POLICY own_space ON %s USING (space = current_setting(''turnleaf.space'', true))',
            one
        );
    END LOOP;
END $$;
-- Settings are for all spaces, and so is the counter of their changes (the space '').
CREATE POLICY all_spaces ON turnleaf.counters USING (space = '');
CREATE POLICY reading ON turnleaf.work FOR SELECT USING (true);
CREATE POLICY taking ON turnleaf.work FOR UPDATE USING (true);
CREATE POLICY finishing ON turnleaf.work FOR DELETE USING (true);
