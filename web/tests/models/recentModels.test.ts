import { expect, test } from "vitest";
import { addRecent, getRecent } from "../../src/models/recentModels";

test("the models used lately are few, the newest first, each once", () => {
  for (const name of ["a", "b", "c", "d", "e", "f", "g", "b"]) addRecent(name);
  expect(getRecent()).toEqual(["b", "g", "f", "e", "d", "c"]);
});

test.each(["{", '"x"', "[1]"])("%s in their place is no error", (left) => {
  localStorage.setItem("turnleaf.recentModels", left);
  expect(getRecent()).toEqual([]);
});
