
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE SCHEMA turnleaf;

ALTER SCHEMA turnleaf OWNER TO turnleaf_owner;

CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;

COMMENT ON EXTENSION vector IS 'vector data type and ivfflat and hnsw access methods';

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE turnleaf.answer_claims (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    message bigint NOT NULL,
    token text NOT NULL COLLATE pg_catalog."C",
    ends_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY turnleaf.answer_claims FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.answer_claims OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.books (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    text text NOT NULL,
    older text NOT NULL,
    written_at timestamp with time zone NOT NULL,
    last_number bigint NOT NULL
);

ALTER TABLE ONLY turnleaf.books FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.books OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.changes (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    n bigint NOT NULL,
    body text NOT NULL
);

ALTER TABLE ONLY turnleaf.changes FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.changes OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.conversations (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    leaf bigint DEFAULT 0 NOT NULL,
    turns bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    title text DEFAULT ''::text NOT NULL,
    imported_title text DEFAULT ''::text NOT NULL,
    question_title text DEFAULT ''::text NOT NULL,
    audience text NOT NULL,
    is_searched boolean DEFAULT true NOT NULL
);

ALTER TABLE ONLY turnleaf.conversations FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.conversations OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.counters (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    n bigint NOT NULL,
    last_id bigint DEFAULT 0 NOT NULL
);

ALTER TABLE ONLY turnleaf.counters FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.counters OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.feeds (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    name text DEFAULT gen_random_uuid() NOT NULL,
    settled text DEFAULT ''::text NOT NULL
);

ALTER TABLE ONLY turnleaf.feeds FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.feeds OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.forgotten_facts (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    fact text NOT NULL COLLATE pg_catalog."C"
);

ALTER TABLE ONLY turnleaf.forgotten_facts FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.forgotten_facts OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.hidden_messages (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    message bigint NOT NULL
);

ALTER TABLE ONLY turnleaf.hidden_messages FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.hidden_messages OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.indexed_places (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    place text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL
);

ALTER TABLE ONLY turnleaf.indexed_places FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.indexed_places OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.indexes (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    state text DEFAULT '{}'::text NOT NULL,
    passages bigint DEFAULT 0 NOT NULL,
    terms bigint DEFAULT 0 NOT NULL,
    last_passage bigint DEFAULT 0 NOT NULL,
    model text,
    scripts text DEFAULT ''::text NOT NULL,
    mean double precision DEFAULT 0 NOT NULL,
    deviation double precision DEFAULT 0 NOT NULL,
    dimension integer DEFAULT 0 NOT NULL
);

ALTER TABLE ONLY turnleaf.indexes FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.indexes OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.learning_marks (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    section text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    body text NOT NULL
);

ALTER TABLE ONLY turnleaf.learning_marks FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.learning_marks OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.learning_outbox (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    place bigint NOT NULL,
    body text NOT NULL
);

ALTER TABLE ONLY turnleaf.learning_outbox FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.learning_outbox OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.learning_queue (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    id bigint NOT NULL,
    body text NOT NULL
);

ALTER TABLE ONLY turnleaf.learning_queue FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.learning_queue OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.messages (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    id bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    parent bigint NOT NULL,
    is_shown boolean DEFAULT true NOT NULL,
    is_resumed boolean DEFAULT false NOT NULL,
    is_hidden boolean DEFAULT false NOT NULL,
    role text NOT NULL,
    said_at timestamp with time zone NOT NULL,
    body text NOT NULL,
    status text NOT NULL,
    trust text NOT NULL,
    source text,
    shaped_by text,
    change bigint NOT NULL,
    cited text
);

ALTER TABLE ONLY turnleaf.messages FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.messages OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.migrations (
    version integer NOT NULL,
    floor integer NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE turnleaf.migrations OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.notes (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL,
    id bigint NOT NULL,
    text text NOT NULL,
    source text,
    change bigint NOT NULL
);

ALTER TABLE ONLY turnleaf.notes FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.notes OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.passages (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    id bigint NOT NULL,
    place text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    shape bytea NOT NULL,
    fingerprint bytea NOT NULL,
    meaning bytea NOT NULL,
    has_vector boolean DEFAULT false NOT NULL,
    body text NOT NULL,
    terms integer NOT NULL,
    line bigint NOT NULL,
    before bigint,
    after bigint,
    date text COLLATE pg_catalog."C",
    conversation text COLLATE pg_catalog."C",
    message bigint,
    part integer NOT NULL,
    "time" timestamp with time zone,
    trust text NOT NULL COLLATE pg_catalog."C",
    audience text NOT NULL COLLATE pg_catalog."C",
    is_shown boolean NOT NULL
);

ALTER TABLE ONLY turnleaf.passages FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.passages OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.records (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    collection text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    value bytea NOT NULL,
    version bigint NOT NULL,
    expires_at timestamp with time zone
);

ALTER TABLE ONLY turnleaf.records FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.records OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.removed_messages (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    id bigint NOT NULL,
    change bigint NOT NULL
);

ALTER TABLE ONLY turnleaf.removed_messages FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.removed_messages OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.schedule_results (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    body text NOT NULL
);

ALTER TABLE ONLY turnleaf.schedule_results FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.schedule_results OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.schedules (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    place bigint NOT NULL,
    body text NOT NULL
);

ALTER TABLE ONLY turnleaf.schedules FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.schedules OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.settings (
    key text NOT NULL,
    value text NOT NULL
);

ALTER TABLE turnleaf.settings OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.terms (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    term text NOT NULL COLLATE pg_catalog."C",
    passage bigint NOT NULL,
    own integer NOT NULL,
    around integer NOT NULL,
    length integer NOT NULL
);

ALTER TABLE ONLY turnleaf.terms FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.terms OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.vectors (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    meaning bytea NOT NULL,
    part integer NOT NULL,
    vector public.vector NOT NULL
);

ALTER TABLE ONLY turnleaf.vectors FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.vectors OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.work (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    due timestamp with time zone NOT NULL,
    n bigint DEFAULT 0 NOT NULL,
    holder text,
    held_until timestamp with time zone
);

ALTER TABLE ONLY turnleaf.work FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.work OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.writes (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C"
);

ALTER TABLE ONLY turnleaf.writes FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.writes OWNER TO turnleaf_owner;

INSERT INTO turnleaf.books VALUES ('anna', 'facts', '# Memory

- 客廳的燈叫做小明 <!-- turnleaf id=08d000889f3b created=2026-11-17T23:57:43.429Z origin=user -->
', '# Memory
', '2000-01-01 00:00:00+00', 1);

INSERT INTO turnleaf.changes VALUES ('anna', 'facts', 1, '{"change": {"n": 1, "time": "2026-11-17T23:57:43.565Z", "op": "add", "id": "08d000889f3b", "after": {"id": "08d000889f3b", "content": "客廳的燈叫做小明", "createdAt": "2026-11-17T23:57:43.429Z", "updatedAt": "2026-11-17T23:57:43.429Z", "origin": "user"}, "origin": "user", "quote": "客廳的燈叫做小明", "conversation": "cli:1", "messageTime": "2026-11-17T23:57:43.429Z", "trust": "user"}, "step": 1, "reversal": [1, ["\n", "- 客廳的燈叫做小明 <!-- turnleaf id=08d000889f3b created=2026-11-17T23:57:43.429Z origin=user -->\n"], []], "version": "416b4bab6d7610f9bd5d7b645f6d47e01e636f92d4c009e3e985b7fc388dbea9", "text": null, "isOlder": false, "left": null}');

INSERT INTO turnleaf.conversations VALUES ('anna', 'cli:1', 2, 2, '2026-11-17 23:57:43.594+00', '2026-11-17 23:57:43.595+00', '', '', '小明壞了', '', true);

INSERT INTO turnleaf.counters VALUES ('anna', 'daily', 1, 0);
INSERT INTO turnleaf.counters VALUES ('anna', 'schedules', 1, 0);
INSERT INTO turnleaf.counters VALUES ('anna', 'records', 1, 0);
INSERT INTO turnleaf.counters VALUES ('anna', 'learning', 1, 1);
INSERT INTO turnleaf.counters VALUES ('', 'config', 1, 0);
INSERT INTO turnleaf.counters VALUES ('anna', 'pending', 0, 0);
INSERT INTO turnleaf.counters VALUES ('anna', 'facts', 1, 0);
INSERT INTO turnleaf.counters VALUES ('anna', 'conversations', 3, 2);
INSERT INTO turnleaf.counters VALUES ('anna', 'passages', 0, 0);

INSERT INTO turnleaf.feeds VALUES ('anna', '43d2f8f6-6949-49bc-94a4-154dc6d9066a', 'facts 1 pending 0');

INSERT INTO turnleaf.indexed_places VALUES ('anna', 'MEMORY.md', '2026-11-18 416b4bab6d7610f9bd5d7b645f6d47e01e636f92d4c009e3e985b7fc388dbea9');
INSERT INTO turnleaf.indexed_places VALUES ('anna', 'OLDER.md', '2026-11-18 d7870cdadd1ac3b46461cce0776275aeb54f15f19338e597fafd0f277b1f0070');
INSERT INTO turnleaf.indexed_places VALUES ('anna', 'daily/2026-11-17.md', '1 1');

INSERT INTO turnleaf.indexes VALUES ('anna', '{"version": 1, "seen": {"daily": 1, "facts": 1, "conversations": 3, "day": "2026-11-18"}, "cursor": [2, 1], "isLast": true}', 4, 54, 4, 'meanings', 'spaced unspaced', 0.09694436829968746, 0.03633168779964916, 64);

INSERT INTO turnleaf.learning_queue VALUES ('anna', 1, '{"key": "cli:1", "queued": {"message": {"role": "user", "content": "小明壞了", "timestamp": "2026-11-17T23:57:43.665Z"}, "trust": "user", "source": null, "saved": [], "isSettled": false, "isReadByRules": false}, "attempts": 0, "unreadable": 0, "isSetAside": false, "token": null, "holder": null, "since": null}');

INSERT INTO turnleaf.messages VALUES ('anna', 1, 'cli:1', 0, true, false, false, 'user', '2026-11-17 23:57:43.594+00', '{"role": "user", "content": "小明壞了", "timestamp": "2026-11-17T23:57:43.594Z"}', 'complete', 'user', NULL, NULL, 1, NULL);
INSERT INTO turnleaf.messages VALUES ('anna', 2, 'cli:1', 1, true, false, false, 'assistant', '2026-11-17 23:57:43.595+00', '{"role": "assistant", "content": "好", "timestamp": "2026-11-17T23:57:43.595Z"}', 'complete', 'assistant', NULL, NULL, 1, NULL);

INSERT INTO turnleaf.migrations VALUES (1, 1, '2026-11-17 23:57:43.215416+00');
INSERT INTO turnleaf.migrations VALUES (2, 1, '2026-11-18 03:31:56.324936+00');

INSERT INTO turnleaf.notes VALUES ('anna', '2026-11-17', 1, '- 23:57 換了小明的燈泡
', NULL, 1);

INSERT INTO turnleaf.passages VALUES ('anna', 3, 'conversations', 'conversations', '\x', '\xa3f520cc64017e3c99eeba92f53f1338', '\x23f1721c4967c11d87189106df117040', true, '{"text": "小明壞了", "heading": null, "speaker": "user", "id": "1", "parent": null, "earlier": 0, "later": 0}', 10, 1, NULL, 4, '2026-11-17', 'cli:1', 1, 0, '2026-11-17 23:57:43.594+00', 'user', '', true);
INSERT INTO turnleaf.passages VALUES ('anna', 4, 'conversations', 'conversations', '\x', '\xd7fc1f822b8676d01757058a2d99b113', '\x23f1721c4967c11d87189106df117040', true, '{"text": "好", "heading": null, "speaker": "assistant", "id": "2", "parent": 1, "earlier": 0, "later": 0}', 10, 2, 3, NULL, '2026-11-17', 'cli:1', 2, 0, '2026-11-17 23:57:43.595+00', 'assistant', '', true);
INSERT INTO turnleaf.passages VALUES ('anna', 1, 'MEMORY.md', 'memory', '\xee38904f2f51471bd321d0d2181ae37d6d656d6f7279', '\x4c29737c745800a27552ffd961b46ca9', '\x4c29737c745800a27552ffd961b46ca9', true, '{"text": "客廳的燈叫做小明", "heading": null, "speaker": null, "id": "08d000889f3b", "parent": null, "earlier": 0, "later": 0}', 17, 3, NULL, NULL, '2026-11-17', NULL, NULL, 0, NULL, 'user', '', true);
INSERT INTO turnleaf.passages VALUES ('anna', 2, 'daily/2026-11-17.md', 'daily', '\x86476fc825bd861b07853441126675d76461696c79', '\xcee9b6957a625313c31b8b384412903e', '\xcee9b6957a625313c31b8b384412903e', true, '{"text": "23:57 換了小明的燈泡", "heading": null, "speaker": null, "id": null, "parent": null, "earlier": 0, "later": 0}', 17, 3, NULL, NULL, '2026-11-17', NULL, NULL, 0, NULL, 'user', '', true);

INSERT INTO turnleaf.records VALUES ('anna', 'sessions', '小明', '\x31', 1, NULL);

INSERT INTO turnleaf.schedules VALUES ('anna', 'fac9c9d7300d', 1, '{"id": "fac9c9d7300d", "prompt": "小明好嗎？", "timing": "@daily", "timezone": "UTC", "deliver": "log", "paused": false, "createdAt": "2026-11-17T23:57:43.647Z", "updatedAt": "2026-11-17T23:57:43.647Z", "nextRun": "2026-11-18T00:00:00.000Z", "runs": []}');

INSERT INTO turnleaf.settings VALUES ('memoryMaxItems', '77');

INSERT INTO turnleaf.terms VALUES ('anna', '厅的', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '11月17日', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '厅', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '11月', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '客厅', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '明', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '叫做', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '的灯', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '客', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '灯叫', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '灯', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '小', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '叫', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '的', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '做小', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '小明', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '做', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '11月17日', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '了小', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '泡', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '57', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '明的', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '11月', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '换', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '换了', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '的灯', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '灯', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '23', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '灯泡', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '小', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '的', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '明', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '小明', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '了', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '11月17日', 3, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '小明', 3, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '坏', 3, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '好', 3, 0, 1, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '11月', 3, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '坏了', 3, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '小', 3, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '明坏', 3, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '明', 3, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '了', 3, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '11月17日', 4, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '坏', 4, 0, 1, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '好', 4, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '11月', 4, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '坏了', 4, 0, 1, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '小', 4, 0, 1, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '明坏', 4, 0, 1, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '明', 4, 0, 1, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '小明', 4, 0, 1, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '了', 4, 0, 1, 10);

INSERT INTO turnleaf.vectors VALUES ('anna', '\x23f1721c4967c11d87189106df117040', 0, '[0.4449919,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.4449919,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.4449919,0.4449919,0.0129609285,0.4449919,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285]');
INSERT INTO turnleaf.vectors VALUES ('anna', '\x4c29737c745800a27552ffd961b46ca9', 0, '[0.37570843,0.014450324,0.014450324,0.014450324,0.37570843,0.014450324,0.37570843,0.37570843,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.37570843,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.37570843,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.37570843,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324]');
INSERT INTO turnleaf.vectors VALUES ('anna', '\xcee9b6957a625313c31b8b384412903e', 0, '[0.2863731,0.2863731,0.017478172,0.017478172,0.2863731,0.017478172,0.017478172,0.2863731,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.2863731,0.017478172,0.017478172,0.017478172,0.017478172,0.2863731,0.017478172,0.2863731,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.2863731,0.017478172,0.017478172,0.017478172,0.017478172,0.2863731,0.017478172,0.2863731,0.017478172,0.2863731,0.017478172,0.2863731,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172,0.017478172]');

INSERT INTO turnleaf.work VALUES ('anna', 'schedules', '2026-11-18 03:31:56.324936+00', 0, NULL, NULL);
INSERT INTO turnleaf.work VALUES ('anna', 'learning', '2026-11-18 03:31:56.324936+00', 0, NULL, NULL);

INSERT INTO turnleaf.writes VALUES ('anna', '18e9062d64d61eeac98140655ddc4ab4acd9f94532fcedf1');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9062d6871b07b9da827517d974cb7b4e534c108e6a16d');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9062d76833371301b0a5b21974251bfca614c472baad7');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9062d7872e6f05871d948388e4fa381c39bfb4ae1b8c5');

ALTER TABLE ONLY turnleaf.answer_claims
    ADD CONSTRAINT answer_claims_pkey PRIMARY KEY (space, message, token);

ALTER TABLE ONLY turnleaf.books
    ADD CONSTRAINT books_pkey PRIMARY KEY (space, kind);

ALTER TABLE ONLY turnleaf.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (space, kind, n);

ALTER TABLE ONLY turnleaf.conversations
    ADD CONSTRAINT conversations_pkey PRIMARY KEY (space, key);

ALTER TABLE ONLY turnleaf.counters
    ADD CONSTRAINT counters_pkey PRIMARY KEY (space, kind);

ALTER TABLE ONLY turnleaf.feeds
    ADD CONSTRAINT feeds_pkey PRIMARY KEY (space);

ALTER TABLE ONLY turnleaf.forgotten_facts
    ADD CONSTRAINT forgotten_facts_pkey PRIMARY KEY (space, fact);

ALTER TABLE ONLY turnleaf.hidden_messages
    ADD CONSTRAINT hidden_messages_pkey PRIMARY KEY (space, reason, message);

ALTER TABLE ONLY turnleaf.indexed_places
    ADD CONSTRAINT indexed_places_pkey PRIMARY KEY (space, place);

ALTER TABLE ONLY turnleaf.indexes
    ADD CONSTRAINT indexes_pkey PRIMARY KEY (space);

ALTER TABLE ONLY turnleaf.learning_marks
    ADD CONSTRAINT learning_marks_pkey PRIMARY KEY (space, section, id);

ALTER TABLE ONLY turnleaf.learning_outbox
    ADD CONSTRAINT learning_outbox_pkey PRIMARY KEY (space, id);

ALTER TABLE ONLY turnleaf.learning_queue
    ADD CONSTRAINT learning_queue_pkey PRIMARY KEY (space, id);

ALTER TABLE ONLY turnleaf.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (space, id);

ALTER TABLE ONLY turnleaf.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (version);

ALTER TABLE ONLY turnleaf.notes
    ADD CONSTRAINT notes_pkey PRIMARY KEY (space, day, id);

ALTER TABLE ONLY turnleaf.passages
    ADD CONSTRAINT passages_pkey PRIMARY KEY (space, id);

ALTER TABLE ONLY turnleaf.records
    ADD CONSTRAINT records_pkey PRIMARY KEY (space, collection, key);

ALTER TABLE ONLY turnleaf.removed_messages
    ADD CONSTRAINT removed_messages_pkey PRIMARY KEY (space, id);

ALTER TABLE ONLY turnleaf.schedule_results
    ADD CONSTRAINT schedule_results_pkey PRIMARY KEY (space, id);

ALTER TABLE ONLY turnleaf.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (space, id);

ALTER TABLE ONLY turnleaf.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (key);

ALTER TABLE ONLY turnleaf.terms
    ADD CONSTRAINT terms_pkey PRIMARY KEY (space, term, passage) INCLUDE (own, around, length);

ALTER TABLE ONLY turnleaf.vectors
    ADD CONSTRAINT vectors_pkey PRIMARY KEY (space, meaning, part);

ALTER TABLE ONLY turnleaf.work
    ADD CONSTRAINT work_pkey PRIMARY KEY (space, kind);

ALTER TABLE ONLY turnleaf.writes
    ADD CONSTRAINT writes_pkey PRIMARY KEY (space, id);

CREATE INDEX conversations_by_age ON turnleaf.conversations USING btree (space, created_at);

CREATE INDEX hidden_messages_by_message ON turnleaf.hidden_messages USING btree (space, message);

CREATE INDEX messages_by_change ON turnleaf.messages USING btree (space, change, id);

CREATE INDEX messages_by_conversation ON turnleaf.messages USING btree (space, key, is_shown, id);

CREATE INDEX messages_by_parent ON turnleaf.messages USING btree (space, key, parent);

CREATE INDEX messages_that_cite ON turnleaf.messages USING btree (space, id) WHERE (cited IS NOT NULL);

CREATE INDEX passages_by_audience ON turnleaf.passages USING btree (space, audience, trust, conversation) WHERE ((audience <> ''::text) OR (trust <> ALL (ARRAY['user'::text, 'assistant'::text])));

CREATE INDEX passages_by_day ON turnleaf.passages USING btree (space, kind, date);

CREATE INDEX passages_by_meaning ON turnleaf.passages USING btree (space, meaning);

CREATE INDEX passages_by_message ON turnleaf.passages USING btree (space, conversation, message, part) WHERE (message IS NOT NULL);

CREATE INDEX passages_by_place ON turnleaf.passages USING btree (space, place, message);

CREATE INDEX passages_without_vector ON turnleaf.passages USING btree (space, id) WHERE (NOT has_vector);

CREATE INDEX removed_messages_by_change ON turnleaf.removed_messages USING btree (space, change, id);

CREATE INDEX terms_by_passage ON turnleaf.terms USING btree (space, passage);

CREATE INDEX work_by_due ON turnleaf.work USING btree (due);

CREATE POLICY all_spaces ON turnleaf.counters USING ((space = ''::text));

ALTER TABLE turnleaf.answer_claims ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.books ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.changes ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.conversations ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.counters ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.feeds ENABLE ROW LEVEL SECURITY;

CREATE POLICY finishing ON turnleaf.work FOR DELETE USING (true);

ALTER TABLE turnleaf.forgotten_facts ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.hidden_messages ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.indexed_places ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.indexes ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.learning_marks ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.learning_outbox ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.learning_queue ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.messages ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.notes ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_space ON turnleaf.answer_claims USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.books USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.changes USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.conversations USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.counters USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.feeds USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.forgotten_facts USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.hidden_messages USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.indexed_places USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.indexes USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.learning_marks USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.learning_outbox USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.learning_queue USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.messages USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.notes USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.passages USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.records USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.removed_messages USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.schedule_results USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.schedules USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.terms USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.vectors USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.work FOR INSERT WITH CHECK ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.writes USING ((space = current_setting('turnleaf.space'::text, true)));

ALTER TABLE turnleaf.passages ENABLE ROW LEVEL SECURITY;

CREATE POLICY reading ON turnleaf.work FOR SELECT USING (true);

ALTER TABLE turnleaf.records ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.removed_messages ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.schedule_results ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.schedules ENABLE ROW LEVEL SECURITY;

CREATE POLICY taking ON turnleaf.work FOR UPDATE USING (true);

ALTER TABLE turnleaf.terms ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.vectors ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.work ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.writes ENABLE ROW LEVEL SECURITY;

GRANT USAGE ON SCHEMA turnleaf TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.answer_claims TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.books TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.changes TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.conversations TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.counters TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.feeds TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.forgotten_facts TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.hidden_messages TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.indexed_places TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.indexes TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.learning_marks TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.learning_outbox TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.learning_queue TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.messages TO turnleaf_server;

GRANT SELECT ON TABLE turnleaf.migrations TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.notes TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.passages TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.records TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.removed_messages TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.schedule_results TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.schedules TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.settings TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.terms TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.vectors TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.work TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.writes TO turnleaf_server;
