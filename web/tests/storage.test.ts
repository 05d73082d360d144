import { expect, test, vi } from "vitest";
import { onItemChange, readItem, saveItem } from "../src/storage";
import { dispatch, makeStorage } from "./browser";

test("what is saved is read again until it is forgotten", () => {
  saveItem("theme", "dark");
  expect(readItem("theme")).toBe("dark");
  expect(localStorage.getItem("turnleaf.theme")).toBe("dark");
  saveItem("theme", null);
  expect(readItem("theme")).toBeNull();
});

test("a browser that stores nothing is no error", () => {
  vi.stubGlobal("localStorage", makeStorage(true));
  saveItem("theme", "dark");
  expect(readItem("theme")).toBeNull();
});

test("another tab's change is heard, and only of the same name", () => {
  const heard: (string | null)[] = [];
  onItemChange("language", (value) => heard.push(value));
  dispatch("storage", { key: "turnleaf.language", newValue: "zh-TW" });
  dispatch("storage", { key: "turnleaf.theme", newValue: "dark" });
  dispatch("storage", { key: "turnleaf.language", newValue: null });
  expect(heard).toEqual(["zh-TW", null]);
});
