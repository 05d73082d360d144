/** Which of many facts an answer is about: all of them are in the prompt, few of them matter. */

const WORDS = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]+/gu;
const CHARACTERS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;
const SHORTEST_WORD = 3;
const LEAST_SHARE = 0.3;
/** Words that stand in every other sentence. */
const COMMON = new Set(
  "about after all and any are before but can did does done for from had has have her him his how its not now off on one our out she that the their them then there they this was what when where which who will with you your 什麼 怎麼 的是 是什 我的 你的 可以 沒有 一個".split(
    " ",
  ),
);

/** Return words, and pairs of characters where words are not set apart. */
function extractTerms(text: string): Set<string> {
  const folded = text.normalize("NFKC").toLowerCase();
  const words = (folded.match(WORDS) ?? []).filter((word) => word.length >= SHORTEST_WORD);
  const pairs = (folded.match(CHARACTERS) ?? []).flatMap((run) =>
    Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2)),
  );
  return new Set([...words, ...pairs].filter((term) => !COMMON.has(term)));
}

type Weigh = (term: string) => number;

/** How much of some terms is among others, by weight. */
function weighShared(own: Iterable<string>, others: Set<string>, weigh: Weigh): number {
  let whole = 0;
  let common = 0;
  for (const term of own) {
    whole += weigh(term);
    if (others.has(term)) common += weigh(term);
  }
  return whole && common / whole;
}

/** Return what a question or its answer is about, the closest first; a word that many have tells little. */
export function findNearest<Item extends { content: string | null }>(
  items: Item[],
  question: string,
  answer: string,
): Item[] {
  const known = items.map((item) => extractTerms(item.content ?? ""));
  const counts = new Map<string, number>();
  for (const term of known.flatMap((own) => [...own])) counts.set(term, (counts.get(term) ?? 0) + 1);
  const weigh: Weigh = (term) => Math.log(1 + items.length / counts.get(term)!);
  const asked = [...extractTerms(question)].filter((term) => counts.has(term));
  const said = extractTerms(`${question}\n${answer}`);
  const scored = items.map((item, at) => {
    const own = known[at]!;
    return { item, spoken: weighShared(own, said, weigh), wanted: weighShared(asked, own, weigh) };
  });
  const close = scored.filter(({ spoken, wanted }) => Math.max(spoken, wanted) >= LEAST_SHARE);
  close.sort((one, other) => other.spoken + other.wanted - one.spoken - one.wanted);
  return close.map(({ item }) => item);
}
