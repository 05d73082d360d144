import {
  createContext,
  type FocusEvent,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useRef,
  useState,
} from "react";
import { useWords } from "../i18n";
import { Button, IconButton } from "./Button";
import { Icon } from "./Icon";
import { ProblemText } from "./Notice";

interface ToastContent {
  text: ReactNode;
  tone?: "good" | "danger";
  /** What takes it back; the toast then stays longer. */
  undo?: () => Promise<unknown> | void;
}

interface ShownToast extends ToastContent {
  id: number;
}

interface Toasts {
  show: (content: ToastContent) => void;
  /** Say what went wrong. */
  fail: (error: unknown) => void;
}

const SHORT_MS = 5_000;
const LONG_MS = 12_000;
const MOST = 3;

const Context = createContext<Toasts | null>(null);

/** Say what happened, with a way back. */
export function useToasts(): Toasts {
  const toasts = useContext(Context);
  if (!toasts) throw new Error("useToasts needs a ToastProvider around it");
  return toasts;
}

/** Shows toasts above everything inside it. */
export function ToastProvider({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<ShownToast[]>([]);
  const last = useRef(0);
  const region = useRef<HTMLDivElement>(null);
  const before = useRef<HTMLElement | null>(null);

  const show = useCallback((content: ToastContent) => {
    last.current += 1;
    setShown((now) => [...now, { ...content, id: last.current }].slice(-MOST));
  }, []);
  const fail = useCallback((error: unknown) => show({ text: <ProblemText problem={error} />, tone: "danger" }), [show]);
  const close = useCallback((id: number) => setShown((now) => now.filter((toast) => toast.id !== id)), []);
  const remember = ({ relatedTarget }: FocusEvent) => {
    if (relatedTarget instanceof HTMLElement && !region.current?.contains(relatedTarget))
      before.current = relatedTarget;
  };
  const goBack = () => {
    if (!region.current?.contains(document.activeElement)) return;
    const place = before.current?.isConnected ? before.current : document.getElementById("main");
    place?.focus();
  };
  const [toasts] = useState<Toasts>(() => ({ show, fail }));

  return (
    <Context value={toasts}>
      {children}
      <div ref={region} className="toasts" role="status" aria-live="polite" onFocus={remember}>
        {shown.map((toast) => (
          <ToastCard key={toast.id} toast={toast} onClose={() => close(toast.id)} onLeave={goBack} />
        ))}
      </div>
    </Context>
  );
}

interface ToastCardProps {
  toast: ShownToast;
  onClose: () => void;
  /** Somebody has used one of its buttons: the focus must not vanish with it. */
  onLeave: () => void;
}

function ToastCard({ toast, onClose, onLeave }: ToastCardProps) {
  const words = useWords();
  const { fail } = useToasts();
  const [isHeld, setHeld] = useState(false);
  const latestClose = useRef(onClose);
  latestClose.current = onClose;

  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => latestClose.current(), toast.undo || toast.tone === "danger" ? LONG_MS : SHORT_MS);
    return () => clearTimeout(timer);
  }, [isHeld, toast]);

  const leave = () => {
    onLeave();
    onClose();
  };
  const undo = async () => {
    leave();
    try {
      await toast.undo?.();
    } catch (error) {
      fail(error);
    }
  };
  const hold = { onMouseEnter: () => setHeld(true), onMouseLeave: () => setHeld(false) };
  return (
    <div
      className={`toast toast-${toast.tone ?? "good"}`}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
      {...hold}
    >
      <Icon name={toast.tone === "danger" ? "alert" : "check"} />
      <span className="toast-text">{toast.text}</span>
      {toast.undo && (
        <Button tone="quiet" small icon="undo" onClick={() => void undo()}>
          {words.common.undo}
        </Button>
      )}
      <IconButton small icon="close" label={words.common.close} onClick={leave} />
    </div>
  );
}
