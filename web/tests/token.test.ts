import { beforeEach, expect, test, vi } from "vitest";
import { dispatch } from "./browser";

let token: typeof import("../src/token");

beforeEach(async () => {
  vi.resetModules();
  token = await import("../src/token");
});

test("a token is kept without the spaces around it", () => {
  token.setToken("  secret\n");
  expect(token.getToken()).toBe("secret");
  expect(localStorage.getItem("turnleaf.token")).toBe("secret");
  expect(token.isLocked()).toBe(false);
});

test("a token that the server refused is forgotten, and nothing more is asked", () => {
  token.setToken("wrong");
  token.clearToken("wrong");
  expect(token.getToken()).toBeNull();
  expect(localStorage.getItem("turnleaf.token")).toBeNull();
  expect(token.isLocked()).toBe(true);
});

test("a refusal that comes late does not take away a newer token", () => {
  token.setToken("old");
  token.setToken("new");
  token.clearToken("old");
  expect(token.getToken()).toBe("new");
  expect(token.isLocked()).toBe(false);
});

test("a token in the address is taken out of it", () => {
  location.hash = "#token=a%2Bb";
  token.takeTokenFromAddress();
  expect(token.getToken()).toBe("a+b");
  expect(location.hash).toBe("#/chat");
});

test("an address without a token changes nothing", () => {
  location.hash = "#/memory?q=token=1";
  token.takeTokenFromAddress();
  expect(token.getToken()).toBeNull();
  expect(location.hash).toBe("#/memory?q=token=1");
});

test("logging in or out in one tab holds in all", () => {
  dispatch("storage", { key: "turnleaf.token", newValue: "theirs" });
  expect(token.getToken()).toBe("theirs");
  dispatch("storage", { key: "turnleaf.token", newValue: null });
  expect(token.isLocked()).toBe(true);
});
