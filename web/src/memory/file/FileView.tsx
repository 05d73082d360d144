/** The memory's file, as it is. */

import { undo } from "@codemirror/commands";
import { EditorView } from "@codemirror/view";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { api, type MainMemory, toProblem } from "../../api";
import { useI18n, useWords } from "../../i18n";
import { useRoute } from "../../route";
import { useServerEvent } from "../../serverEvents";
import { Button, FieldError, Icon, Notice, ProblemNotice, ProblemText, Skeleton, useToasts } from "../../ui";
import { useLoaded } from "../../useLoaded";
import { describeOrigin } from "../factOrigins";
import { Compare, type Comparison, type ComparedVersions } from "./Compare";
import { getText, jumpTo, type EditorLook, newState, replaceText } from "./editor";
import { getUnsaved, keepUnsaved, useUnsaved } from "./unsavedFile";
import "./file.css";

const CHANGED_MEANWHILE = 412;

export default function FileView() {
  const loaded = useLoaded((signal) => api.getMain(signal), []);
  if (loaded.value) return <FileEditor first={loaded.value} />;
  if (loaded.problem) return <ProblemNotice problem={loaded.problem} onRetry={loaded.reload} />;
  return <Skeleton lines={10} />;
}

/** What is known of the file: the version that the editor's text was written from, and a newer one. */
interface KnownFile {
  base: MainMemory;
  newer: MainMemory | null;
}

interface OpenComparison extends ComparedVersions {
  newer: MainMemory;
}

function FileEditor({ first }: { first: MainMemory }) {
  const words = useWords();
  const toasts = useToasts();
  const look = useLook(first);
  const isUnsaved = useUnsaved();
  const known = useRef<KnownFile>(restoreKnown(first));
  const comparison = useRef<Comparison>(null);
  const [hasNewer, setNewer] = useState(known.current.newer !== null);
  const [comparing, setComparing] = useState<OpenComparison | null>(null);
  const [isSaving, setSaving] = useState(false);
  const [error, setError] = useState<ReactNode>(null);
  const heard = useRef<string | null>(null);
  const { box, editor } = useEditor(known, look);

  const settle = (file: MainMemory) => {
    known.current = { base: file, newer: null };
    setNewer(false);
    noteUnsaved(editor.current, file);
  };
  const show = (file: MainMemory, undoable = false) => {
    if (editor.current) replaceText(editor.current, file.content, { undoable });
    settle(file);
  };
  const refresh = async () => {
    const file = await api.getMain();
    if (file.etag === known.current.base.etag) return;
    if (!getUnsaved()) return show(file);
    known.current.newer = file;
    setNewer(true);
  };
  const lookAgain = () => void refresh().catch(toasts.fail);
  /** See to what was told, but for what was saved here. */
  const lookIfNews = () => {
    if (heard.current !== null && heard.current !== known.current.base.etag) lookAgain();
    heard.current = null;
  };
  useServerEvent("memory", ({ etag }) => {
    heard.current = etag;
    if (!isSaving) lookIfNews();
  });
  useServerEvent("hello", lookAgain);

  const compare = (versions: Omit<ComparedVersions, "theirs">, newer: MainMemory) => {
    known.current.newer = newer;
    setComparing({ ...versions, theirs: newer.content, newer });
  };
  const save = async (text: string, against: MainMemory) => {
    setSaving(true);
    setError(null);
    try {
      const { etag, change, facts } = await api.saveMain(text, against.etag);
      if (comparing && editor.current) replaceText(editor.current, text, { undoable: true });
      setComparing(null);
      settle({ ...against, content: text, etag });
      const takeBack = change === null ? undefined : () => api.undo(change).then(refresh);
      toasts.show({ text: words.memory.file.savedNow(words.memory.facts.count(facts)), undo: takeBack });
    } catch (problem) {
      if (toProblem(problem).status !== CHANGED_MEANWHILE) return setError(<ProblemText problem={problem} />);
      await api.getMain().then((newer) => compare({ base: against.content, yours: text }, newer), toasts.fail);
    } finally {
      setSaving(false);
      lookIfNews();
    }
  };
  const startComparing = () => {
    const { base, newer } = known.current;
    if (editor.current && newer) compare({ base: base.content, yours: getText(editor.current.state) }, newer);
  };
  const saveNow = () => {
    if (isSaving) return;
    if (comparing) void save(comparison.current!.text(), comparing.newer);
    else if (known.current.newer) startComparing();
    else if (editor.current && getUnsaved()) void save(getText(editor.current.state), known.current.base);
  };
  useSaveKey(saveNow);

  const discard = () => {
    const { base, newer } = known.current;
    show(newer ?? base, true);
    const bringBack = () => {
      if (editor.current) undo(editor.current);
    };
    toasts.show({ text: words.memory.file.discarded, undo: bringBack });
  };
  const back = () => {
    setComparing(null);
    setNewer(true);
  };

  return (
    <div className="file">
      <div className="file-bar">
        <FileState file={first.file} isUnsaved={isUnsaved || comparing !== null} />
        {comparing ? (
          <Button tone="quiet" onClick={back}>
            {words.memory.merging.back}
          </Button>
        ) : (
          isUnsaved && (
            <Button tone="quiet" onClick={discard}>
              {words.memory.file.discard}
            </Button>
          )
        )}
        <Button tone="primary" icon="save" busy={isSaving} disabled={!isUnsaved && !comparing} onClick={saveNow}>
          {words.common.save}
        </Button>
      </div>
      {error !== null && <FieldError>{error}</FieldError>}
      {comparing && <Compare key={comparing.newer.etag} ref={comparison} versions={comparing} look={look} />}
      <div className="file-writing" hidden={comparing !== null}>
        <div className="card editor editor-file" ref={box} />
        {hasNewer && <ChangedElsewhereNotice onCompare={startComparing} />}
        <p className="file-hint">{words.memory.file.hint}</p>
      </div>
    </div>
  );
}

function FileState({ file, isUnsaved }: { file: string; isUnsaved: boolean }) {
  const words = useWords().memory.file;
  return (
    <p className="file-state">
      <Icon name="file" />
      <strong>{file}</strong>
      <span className={isUnsaved ? "file-unsaved" : "file-saved"} role="status">
        {isUnsaved ? words.unsaved : words.saved}
      </span>
    </p>
  );
}

function ChangedElsewhereNotice({ onCompare }: { onCompare: () => void }) {
  const words = useWords().memory.file;
  return (
    <Notice tone="warn">
      <div className="file-elsewhere" role="status">
        <span>{words.elsewhere}</span>
        <Button small onClick={onCompare}>
          {words.compare}
        </Button>
      </div>
    </Notice>
  );
}

/** Go on with what is not saved yet, or begin with the file. */
function restoreKnown(file: MainMemory): KnownFile {
  const draft = getUnsaved();
  if (!draft || draft.etag === file.etag) return { base: file, newer: null };
  return { base: { ...file, content: draft.base, etag: draft.etag }, newer: file };
}

function noteUnsaved(view: EditorView | null, base: MainMemory): void {
  if (!view) return;
  const isSame = view.state.doc.eq(view.state.toText(base.content));
  keepUnsaved(isSame ? null : { state: view.state, base: base.content, etag: base.etag });
}

function useEditor(known: RefObject<KnownFile>, look: EditorLook) {
  const box = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView | null>(null);
  const line = Number(useRoute().query.get("line"));

  useEffect(() => {
    const note = () => noteUnsaved(editor.current, known.current.base);
    const state = getUnsaved()?.state ?? newState(known.current.base.content, look);
    const view = new EditorView({
      state,
      parent: box.current!,
      dispatchTransactions: (transactions, own) => {
        own.update(transactions);
        if (transactions.some((one) => one.docChanged) || getUnsaved()) note();
      },
    });
    editor.current = view;
    return () => {
      editor.current = null;
      view.destroy();
    };
  }, []);
  useEffect(() => {
    if (line && editor.current) jumpTo(editor.current, line);
  }, [line]);
  return { box, editor };
}

function useLook(file: MainMemory): EditorLook {
  const { words, format } = useI18n();
  const own = words.memory.file;
  return {
    label: own.label(file.file),
    empty: own.empty,
    phrases: own.phrases,
    describe: ({ origin, time }) => own.mark(describeOrigin(origin, words), time && format.date(time)),
    isMarkdown: file.format === "markdown",
  };
}

/** Ctrl-S, or ⌘S, saves wherever the cursor is. */
function useSaveKey(save: () => void): void {
  const latest = useRef(save);
  latest.current = save;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isSave = event.key.toLowerCase() === "s" && (event.ctrlKey || event.metaKey);
      if (!isSave || event.altKey || event.shiftKey) return;
      event.preventDefault();
      latest.current();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}
