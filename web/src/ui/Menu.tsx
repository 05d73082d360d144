import { type KeyboardEvent, type ReactNode, type ToggleEvent, useId, useRef, useState } from "react";
import { Icon, type IconName } from "./Icon";

export interface MenuItem {
  icon: IconName;
  label: string;
  /** More about it, in smaller letters. */
  hint?: string;
  onPick: () => void;
  /** Set for something that is on or off. */
  isChecked?: boolean;
  /** Only one of those that can be checked is. */
  isOneOf?: boolean;
  isDanger?: boolean;
}

interface MenuProps {
  /** What the button opens, in words. */
  label: string;
  items: MenuItem[];
  small?: boolean;
  /** What the button shows, if not three dots. */
  children?: ReactNode;
}

const GAP_PX = 4;
const ITEM_PX = 46;

/** A button that opens a list of things to do. */
export function Menu({ label, items, small, children }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);

  const prepare = ({ newState }: ToggleEvent) => {
    setOpen(newState === "open");
    if (newState === "open") place(button.current!, list.current!, items.length);
  };
  const focus = ({ newState }: ToggleEvent) => {
    if (newState !== "open") return;
    const chosen = list.current?.querySelector<HTMLButtonElement>("[role=menuitemradio][aria-checked=true]");
    (chosen ?? list.current?.querySelector("button"))?.focus();
  };
  const pick = (item: MenuItem) => {
    list.current?.hidePopover();
    button.current?.focus();
    item.onPick();
  };
  const press = (event: KeyboardEvent) => {
    const all = [...list.current!.querySelectorAll("button")];
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    const places: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    const next = places[event.key];
    if (event.key === "Tab") list.current?.hidePopover();
    if (next === undefined) return;
    event.preventDefault();
    all.at(next % all.length)?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={`button button-quiet menu-button${children ? "" : " button-icon"}${small ? " button-small" : ""}`}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        popoverTarget={id}
      >
        {children ?? <Icon name="more" />}
      </button>
      <div
        ref={list}
        id={id}
        className="menu"
        role="menu"
        aria-label={label}
        popover="auto"
        onBeforeToggle={prepare}
        onToggle={focus}
        onKeyDown={press}
      >
        {isOpen && items.map((item) => <Item key={item.label} item={item} onPick={() => pick(item)} />)}
      </div>
    </>
  );
}

function Item({ item, onPick }: { item: MenuItem; onPick: () => void }) {
  const checkable = item.isOneOf ? "menuitemradio" : "menuitemcheckbox";
  return (
    <button
      type="button"
      role={item.isChecked === undefined ? "menuitem" : checkable}
      aria-checked={item.isChecked}
      tabIndex={-1}
      className={`menu-item${item.isDanger ? " menu-danger" : ""}`}
      onClick={onPick}
    >
      <Icon name={item.icon} />
      <span>
        {item.label}
        {item.hint && <small>{item.hint}</small>}
      </span>
      {item.isChecked && <Icon name="check" />}
    </button>
  );
}

/** Put the list below the button, or above it where there is no room, and towards the middle. */
function place(button: HTMLElement, list: HTMLElement, count: number): void {
  const { top, bottom, left, right } = button.getBoundingClientRect();
  const isAbove = bottom + count * ITEM_PX > innerHeight;
  const isLeft = left + right < innerWidth;
  list.style.left = isLeft ? `${Math.max(left, GAP_PX)}px` : "auto";
  list.style.right = isLeft ? "auto" : `${Math.max(innerWidth - right, GAP_PX)}px`;
  list.style.top = isAbove ? "auto" : `${bottom + GAP_PX}px`;
  list.style.bottom = isAbove ? `${innerHeight - top + GAP_PX}px` : "auto";
}
