import { describe, expect, test } from "vitest";
import { buildAddress, buildMessageAddress, go, parseRoute } from "../src/route";

describe("an address", () => {
  test("is read as it was built, whatever is in it", () => {
    for (const part of ["2026-11-15", "slack:C1/2", "客廳 的燈", "50%", "a?b#c"]) {
      expect(parseRoute(buildAddress("memory", part))).toMatchObject({ page: "memory", parts: [part] });
    }
  });

  test.each(["", "#", "#/"])("%j is the chat", (hash) => {
    expect(parseRoute(hash)).toMatchObject({ page: "chat", parts: [] });
  });

  test("has a query, which may hold a question mark", () => {
    const { page, query } = parseRoute("#/memory?q=什麼?&line=3");
    expect(page).toBe("memory");
    expect(Object.fromEntries(query)).toEqual({ q: "什麼?", line: "3" });
  });

  test("that is badly escaped is taken as it is", () => {
    expect(parseRoute("#/chat/50%").parts).toEqual(["50%"]);
  });

  test("of a message names its conversation", () => {
    const { page, parts, query } = parseRoute(buildMessageAddress("web:1", 7));
    expect([page, parts, query.get("message")]).toEqual(["chat", ["web:1"], "7"]);
  });

  test("is gone to", () => {
    go(buildAddress("status"));
    expect(location.hash).toBe("#/status");
  });
});
