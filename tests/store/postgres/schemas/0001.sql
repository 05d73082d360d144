SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
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

CREATE TABLE turnleaf.embedders (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    id bigint NOT NULL,
    name text NOT NULL,
    dimension integer NOT NULL,
    scripts text NOT NULL,
    mean double precision NOT NULL,
    deviation double precision NOT NULL,
    is_serving boolean NOT NULL
);

ALTER TABLE ONLY turnleaf.embedders FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.embedders OWNER TO turnleaf_owner;

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
    last_passage bigint DEFAULT 0 NOT NULL
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
    cited text,
    change bigint NOT NULL
);

ALTER TABLE ONLY turnleaf.messages FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.messages OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.migrations (
    version integer NOT NULL,
    floor integer NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    salt text DEFAULT gen_random_uuid() NOT NULL
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

CREATE TABLE turnleaf.unembedded (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    embedder bigint NOT NULL,
    passage bigint NOT NULL
);

ALTER TABLE ONLY turnleaf.unembedded FORCE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.unembedded OWNER TO turnleaf_owner;

CREATE TABLE turnleaf.vectors (
    space text DEFAULT current_setting('turnleaf.space'::text) NOT NULL COLLATE pg_catalog."C",
    embedder bigint NOT NULL,
    meaning bytea NOT NULL,
    part integer NOT NULL,
    vector public.vector NOT NULL
)
WITH (toast_tuple_target='8160');

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

- 客廳的燈叫做小明 <!-- turnleaf id=b05440ce87a1 created=2026-11-18T06:40:45.158Z origin=user -->
', '# Memory
', '2000-01-01 00:00:00+00', 1);

INSERT INTO turnleaf.changes VALUES ('anna', 'facts', 1, '{"change": {"n": 1, "time": "2026-11-18T06:40:45.197Z", "op": "add", "id": "b05440ce87a1", "after": {"id": "b05440ce87a1", "content": "客廳的燈叫做小明", "createdAt": "2026-11-18T06:40:45.158Z", "updatedAt": "2026-11-18T06:40:45.158Z", "origin": "user"}, "origin": "user"}, "step": 1, "reversal": [1, ["\n", "- 客廳的燈叫做小明 <!-- turnleaf id=b05440ce87a1 created=2026-11-18T06:40:45.158Z origin=user -->\n"], []], "version": "a24a1acaeb20f8c714a4bf4cb55a3ee6991bb9089f16c102a7f6e1295aa89901", "text": null, "isOlder": false, "left": null}');

INSERT INTO turnleaf.conversations VALUES ('anna', 'cli:1', 2, 2, '2026-11-18 06:40:45.217+00', '2026-11-18 06:40:45.217+00', '', '', '小明壞了', '', true);

INSERT INTO turnleaf.counters VALUES ('', 'config', 1, 0);
INSERT INTO turnleaf.counters VALUES ('', 'space anna', 0, 0);
INSERT INTO turnleaf.counters VALUES ('anna', 'daily', 1, 0);
INSERT INTO turnleaf.counters VALUES ('anna', 'schedules', 1, 0);
INSERT INTO turnleaf.counters VALUES ('anna', 'records', 1, 0);
INSERT INTO turnleaf.counters VALUES ('anna', 'learning', 1, 1);
INSERT INTO turnleaf.counters VALUES ('anna', 'pending', 0, 0);
INSERT INTO turnleaf.counters VALUES ('anna', 'facts', 1, 0);
INSERT INTO turnleaf.counters VALUES ('anna', 'conversations', 3, 2);
INSERT INTO turnleaf.counters VALUES ('anna', 'passages', 0, 0);

INSERT INTO turnleaf.embedders VALUES ('anna', 3686010652656583866, 'meanings', 64, 'spaced unspaced', 0.09694436829968746, 0.03633168779964916, true);

INSERT INTO turnleaf.feeds VALUES ('anna', 'ff192b1f-e427-46af-9125-810d37012355', 'facts 1 pending 0');

INSERT INTO turnleaf.indexed_places VALUES ('anna', 'MEMORY.md', '2026-11-18 a24a1acaeb20f8c714a4bf4cb55a3ee6991bb9089f16c102a7f6e1295aa89901');
INSERT INTO turnleaf.indexed_places VALUES ('anna', 'OLDER.md', '2026-11-18 d7870cdadd1ac3b46461cce0776275aeb54f15f19338e597fafd0f277b1f0070');
INSERT INTO turnleaf.indexed_places VALUES ('anna', 'daily/2026-11-18.md', '1 1');

INSERT INTO turnleaf.indexes VALUES ('anna', '{"version": 1, "seen": {"facts": 1, "conversations": 3, "daily": 1, "day": "2026-11-18"}, "cursor": [2, 1], "isLast": true}', 4, 54, 4);

INSERT INTO turnleaf.learning_queue VALUES ('anna', 1, '{"key": "cli:1", "queued": {"message": {"role": "user", "content": "小明壞了", "timestamp": "2026-11-18T06:40:45.297Z"}, "trust": "user", "source": null, "saved": [], "isSettled": false, "isReadByRules": false}, "attempts": 0, "unreadable": 0, "isSetAside": false, "token": null, "holder": null, "since": null}');

INSERT INTO turnleaf.messages VALUES ('anna', 1, 'cli:1', 0, true, false, false, 'user', '2026-11-18 06:40:45.217+00', '{"role": "user", "content": "小明壞了", "timestamp": "2026-11-18T06:40:45.217Z"}', 'complete', 'user', NULL, NULL, NULL, 1);
INSERT INTO turnleaf.messages VALUES ('anna', 2, 'cli:1', 1, true, false, false, 'assistant', '2026-11-18 06:40:45.217+00', '{"role": "assistant", "content": "好", "timestamp": "2026-11-18T06:40:45.217Z"}', 'complete', 'assistant', NULL, NULL, NULL, 1);

INSERT INTO turnleaf.migrations VALUES (1, 1, '2026-11-18 06:40:42.781646+00', '0df04104-fb08-48d6-9b9b-77302515668c');

INSERT INTO turnleaf.notes VALUES ('anna', '2026-11-18', 1, '- 06:40 換了小明的燈泡
', NULL, 1);

INSERT INTO turnleaf.passages VALUES ('anna', 1, 'MEMORY.md', 'memory', '\x2d34d03aad7e610213894c10861a33406d656d6f7279', '\x4c29737c745800a27552ffd961b46ca9', '\x4c29737c745800a27552ffd961b46ca9', '{"text": "客廳的燈叫做小明", "heading": null, "speaker": null, "id": "b05440ce87a1", "parent": null, "earlier": 0, "later": 0}', 17, 3, NULL, NULL, '2026-11-18', NULL, NULL, 0, NULL, 'user', '', true);
INSERT INTO turnleaf.passages VALUES ('anna', 2, 'daily/2026-11-18.md', 'daily', '\x557766f77a75429a0ae32eb5ec6faa4c6461696c79', '\x7ac10ddddcd9f4c026572e33aa8d4511', '\x7ac10ddddcd9f4c026572e33aa8d4511', '{"text": "06:40 換了小明的燈泡", "heading": null, "speaker": null, "id": null, "parent": null, "earlier": 0, "later": 0}', 17, 3, NULL, NULL, '2026-11-18', NULL, NULL, 0, NULL, 'user', '', true);
INSERT INTO turnleaf.passages VALUES ('anna', 3, 'conversations', 'conversations', '\x', '\xa3f520cc64017e3c99eeba92f53f1338', '\x23f1721c4967c11d87189106df117040', '{"text": "小明壞了", "heading": null, "speaker": "user", "id": "1", "parent": null, "earlier": 0, "later": 0}', 10, 1, NULL, 4, '2026-11-18', 'cli:1', 1, 0, '2026-11-18 06:40:45.217+00', 'user', '', true);
INSERT INTO turnleaf.passages VALUES ('anna', 4, 'conversations', 'conversations', '\x', '\xd7fc1f822b8676d01757058a2d99b113', '\x23f1721c4967c11d87189106df117040', '{"text": "好", "heading": null, "speaker": "assistant", "id": "2", "parent": 1, "earlier": 0, "later": 0}', 10, 2, 3, NULL, '2026-11-18', 'cli:1', 2, 0, '2026-11-18 06:40:45.217+00', 'assistant', '', true);

INSERT INTO turnleaf.records VALUES ('anna', 'sessions', '小明', '\x31', 1, NULL);

INSERT INTO turnleaf.schedules VALUES ('anna', 'f26e3ec59ac5', 1, '{"id": "f26e3ec59ac5", "prompt": "小明好嗎？", "timing": "@daily", "timezone": "UTC", "deliver": "log", "paused": false, "createdAt": "2026-11-18T06:40:45.268Z", "updatedAt": "2026-11-18T06:40:45.268Z", "nextRun": "2026-11-19T00:00:00.000Z", "runs": []}');

INSERT INTO turnleaf.settings VALUES ('memoryMaxItems', '77');

INSERT INTO turnleaf.terms VALUES ('anna', '灯叫', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '叫', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '客', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '11月18日', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '做小', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '明', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '11月', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '灯', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '客厅', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '厅的', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '厅', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '小', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '做', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '的', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '的灯', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '小明', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '叫做', 1, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '06', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '明的', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '泡', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '11月18日', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '灯泡', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '明', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '11月', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '了', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '灯', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '换了', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '小', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '40', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '换', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '的', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '的灯', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '了小', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '小明', 2, 1, 0, 17);
INSERT INTO turnleaf.terms VALUES ('anna', '坏', 3, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '11月18日', 3, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '明坏', 3, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '坏了', 3, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '明', 3, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '了', 3, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '11月', 3, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '小', 3, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '好', 3, 0, 1, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '小明', 3, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '坏', 4, 0, 1, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '11月18日', 4, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '明坏', 4, 0, 1, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '坏了', 4, 0, 1, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '11月', 4, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '明', 4, 0, 1, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '了', 4, 0, 1, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '小', 4, 0, 1, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '好', 4, 1, 0, 10);
INSERT INTO turnleaf.terms VALUES ('anna', '小明', 4, 0, 1, 10);

INSERT INTO turnleaf.vectors VALUES ('anna', 3686010652656583866, '\x23f1721c4967c11d87189106df117040', 0, '[0.4449919,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.4449919,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.4449919,0.4449919,0.0129609285,0.4449919,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285,0.0129609285]');
INSERT INTO turnleaf.vectors VALUES ('anna', 3686010652656583866, '\x7ac10ddddcd9f4c026572e33aa8d4511', 0, '[0.26767245,0.016336815,0.016336815,0.26767245,0.26767245,0.016336815,0.016336815,0.26767245,0.016336815,0.016336815,0.016336815,0.016336815,0.26767245,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.26767245,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.5190081,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.26767245,0.016336815,0.016336815,0.016336815,0.016336815,0.26767245,0.016336815,0.26767245,0.016336815,0.26767245,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815,0.016336815]');
INSERT INTO turnleaf.vectors VALUES ('anna', 3686010652656583866, '\x4c29737c745800a27552ffd961b46ca9', 0, '[0.37570843,0.014450324,0.014450324,0.014450324,0.37570843,0.014450324,0.37570843,0.37570843,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.37570843,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.37570843,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.37570843,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324,0.014450324]');

INSERT INTO turnleaf.work VALUES ('anna', 'schedules', '2026-11-19 00:00:00+00', 0, NULL, NULL);
INSERT INTO turnleaf.work VALUES ('anna', 'learning', '2026-11-18 06:41:45.313159+00', 0, NULL, NULL);

INSERT INTO turnleaf.writes VALUES ('anna', '18e9107a7449bdbb27d3374f8fe8432c88952ca2983b8404');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9107a9689641dfd15ddf47b784531983f9110c0232b53');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9107a97f7497d3cb22f61d24447698ca0c0f94e45c0f7');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9107a987154c86a63d95bb690473c8106394998b7139d');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9107a9abc888a300929df0f1d498a8670a318fb99cde2');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9107a9ae59adb4cc36fcf1e2141b99dfb3653d812feac');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9107a9b3e26782fdee9a7ed1d4dbd8fa6b89a727181a1');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9107a9bae3e6f38a25d7131d5414a8327e21096e1e5de');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9107a9c51a3cb91306056843a4766b2a089b5d5c4b364');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9107a9c7fc82b82cdcf8220744357b1a0dcdb9f153af0');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9107a9d6cb89fe62496ba1c4847118653a5df90a6848e');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9107a9ded5e737084b914a3eb4c24a158a295f5c690fc');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9107a9eb4e57a9aab9008298247ad97318af49d37f0d3');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9107a9f560231709c3869a79547b8a230ddb693d995eb');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9107aafa43a620ba9d071a31f4a269a17247469c55a08');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9107ab35dc4f7b8739be037d34094be3eae64a28fb1b9');
INSERT INTO turnleaf.writes VALUES ('anna', '18e9107ab67e3286aa2851b407654326913f9c269d3578ef');

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

ALTER TABLE ONLY turnleaf.embedders
    ADD CONSTRAINT embedders_pkey PRIMARY KEY (space, id);

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

ALTER TABLE ONLY turnleaf.unembedded
    ADD CONSTRAINT unembedded_pkey PRIMARY KEY (space, embedder, passage);

ALTER TABLE ONLY turnleaf.vectors
    ADD CONSTRAINT vectors_pkey PRIMARY KEY (space, embedder, meaning, part);

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

CREATE INDEX records_by_end ON turnleaf.records USING btree (space, expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX removed_messages_by_change ON turnleaf.removed_messages USING btree (space, change, id);

CREATE INDEX terms_by_passage ON turnleaf.terms USING btree (space, passage);

CREATE INDEX unembedded_by_passage ON turnleaf.unembedded USING btree (space, passage);

CREATE INDEX work_by_due ON turnleaf.work USING btree (due);

CREATE POLICY all_spaces ON turnleaf.counters USING ((space = ''::text));

ALTER TABLE turnleaf.answer_claims ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.books ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.changes ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.conversations ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.counters ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.embedders ENABLE ROW LEVEL SECURITY;

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

CREATE POLICY own_space ON turnleaf.embedders USING ((space = current_setting('turnleaf.space'::text, true)));

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

CREATE POLICY own_space ON turnleaf.unembedded USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.vectors USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.work USING ((space = current_setting('turnleaf.space'::text, true)));

CREATE POLICY own_space ON turnleaf.writes USING ((space = current_setting('turnleaf.space'::text, true)));

ALTER TABLE turnleaf.passages ENABLE ROW LEVEL SECURITY;

CREATE POLICY reading ON turnleaf.work FOR SELECT USING (true);

ALTER TABLE turnleaf.records ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.removed_messages ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.schedule_results ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.schedules ENABLE ROW LEVEL SECURITY;

CREATE POLICY taking ON turnleaf.work FOR UPDATE USING (true);

ALTER TABLE turnleaf.terms ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.unembedded ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.vectors ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.work ENABLE ROW LEVEL SECURITY;

ALTER TABLE turnleaf.writes ENABLE ROW LEVEL SECURITY;

GRANT USAGE ON SCHEMA turnleaf TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.answer_claims TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.books TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.changes TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.conversations TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.counters TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.embedders TO turnleaf_server;

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

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.unembedded TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.vectors TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.work TO turnleaf_server;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE turnleaf.writes TO turnleaf_server;


