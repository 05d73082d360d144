/** Markdown as React elements: no HTML is ever parsed, so nothing in a text can run as script. */

import type { Definition, Nodes, Parents, RootContent, Table, TableCell } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import { createContext, createElement, Fragment, memo, type ReactNode, useContext, useRef } from "react";
import { CopyButton } from "./CopyButton";
import "./markdown.css";
import { closeUnfinished } from "./unfinishedMarkdown";

const OPTIONS = { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] };
const SAFE_LINK = /^(https?:|mailto:)/i;
const HAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
/** Stars beside full-width punctuation, where Markdown's rules see neither a beginning nor an end. */
const STRONG = /\*\*(?!\s)([^*\n]+)(?<!\s)\*\*/;

interface MarkdownProps {
  text: string;
  /** More of it is to come: then it is read on from its last block, and what is half is mended. */
  isGrowing?: boolean;
  /** Where references such as `#17` lead within the page; others stay text. */
  links?: Links;
}

type Links = ReadonlyMap<string, string>;
const NO_LINKS: Links = new Map();
const LinksContext = createContext(NO_LINKS);
const REFERENCE = /(?<=[(（,，]\s?)(#[\w-]{1,24})(?=[)）])/;

/** Show a text as Markdown. */
export const Markdown = memo(function Markdown({ text, isGrowing = false, links = NO_LINKS }: MarkdownProps) {
  const before = useRef<ReadMarkdown>(NOTHING);
  const read = isGrowing ? readOn(text, before.current) : readWhole(text);
  before.current = isGrowing ? read : NOTHING;
  return (
    <LinksContext value={links}>
      <div className="markdown">
        {read.blocks.map((block) => (
          <BlockView key={block.start} block={block} names={read.names} />
        ))}
      </div>
    </LinksContext>
  );
});

// Reading

interface Block {
  start: number;
  source: string;
  node: RootContent;
}

type Definitions = ReadonlyMap<string, Definition>;

interface ReadMarkdown {
  text: string;
  blocks: Block[];
  names: Definitions;
}

const NO_NAMES: Definitions = new Map();
const NOTHING: ReadMarkdown = { text: "", blocks: [], names: NO_NAMES };

function parseBlocks(text: string, from: number): Block[] {
  return fromMarkdown(text, OPTIONS).children.map((node) => {
    const start = node.position!.start.offset!;
    return { start: from + start, source: text.slice(start, node.position!.end.offset!), node };
  });
}

/** Read what came since: the last block may have grown, and those before it cannot change. */
function readOn(text: string, before: ReadMarkdown): ReadMarkdown {
  const last = text.startsWith(before.text) ? before.blocks.at(-1) : undefined;
  const from = last?.start ?? 0;
  const settled = last ? before.blocks.slice(0, -1) : [];
  return { text, blocks: [...settled, ...parseBlocks(closeUnfinished(text.slice(from)), from)], names: NO_NAMES };
}

function readWhole(text: string): ReadMarkdown {
  const blocks = parseBlocks(text, 0);
  const named = blocks.flatMap(({ node }) => (node.type === "definition" ? [node] : []));
  const names = named.length ? new Map(named.map((node) => [node.identifier, node])) : NO_NAMES;
  return { text, blocks, names };
}

// Showing

interface BlockProps {
  block: Block;
  names: Definitions;
}

const BlockView = memo(
  ({ block, names }: BlockProps) => renderNode(block.node, names),
  (one, other) => one.block.source === other.block.source && one.names === other.names,
);

function renderChildren(node: Parents, names: Definitions): ReactNode {
  return node.children.map((child, at) => <Fragment key={at}>{renderNode(child, names)}</Fragment>);
}

function renderNode(node: Nodes, names: Definitions): ReactNode {
  switch (node.type) {
    case "text":
      return <PlainText text={node.value} />;
    case "paragraph":
      return <p>{renderChildren(node, names)}</p>;
    case "heading":
      return createElement(
        node.depth > 3 ? "h4" : "h3",
        { className: `depth-${node.depth}` },
        renderChildren(node, names),
      );
    case "strong":
      return <strong>{renderChildren(node, names)}</strong>;
    case "emphasis":
      return <em>{renderChildren(node, names)}</em>;
    case "delete":
      return <del>{renderChildren(node, names)}</del>;
    case "inlineCode":
      return <code>{node.value}</code>;
    case "code":
      return <Code text={node.value} language={node.lang ?? ""} />;
    case "blockquote":
      return <blockquote>{renderChildren(node, names)}</blockquote>;
    case "list":
      return node.ordered ? (
        <ol start={node.start ?? 1}>{renderChildren(node, names)}</ol>
      ) : (
        <ul>{renderChildren(node, names)}</ul>
      );
    case "listItem":
      return renderItem(node, names);
    case "link":
      return renderLink(node.url, renderChildren(node, names));
    case "linkReference":
      return renderLink(names.get(node.identifier)?.url ?? "", renderChildren(node, names));
    case "image":
      return renderLink(node.url, node.alt || node.url); // a picture would be fetched from elsewhere
    case "imageReference":
      return renderLink(names.get(node.identifier)?.url ?? "", node.alt || node.identifier);
    case "break":
      return <br />;
    case "thematicBreak":
      return <hr />;
    case "table":
      return <TableView table={node} names={names} />;
    case "html":
      return <span className="markdown-raw">{node.value}</span>;
    case "footnoteReference":
      return <sup>[{node.identifier}]</sup>;
    case "footnoteDefinition":
      return (
        <div className="markdown-note">
          <sup>[{node.identifier}]</sup> {renderChildren(node, names)}
        </div>
      );
    default:
      return null;
  }
}

/** Text in which references that lead somewhere are links. */
function PlainText({ text }: { text: string }) {
  const links = useContext(LinksContext);
  if (!links.size || !REFERENCE.test(text)) return renderStrong(text);
  return text.split(REFERENCE).map((part, at) => {
    const address = at % 2 ? links.get(part) : undefined;
    return address ? (
      <a key={at} href={address}>
        {part}
      </a>
    ) : (
      <Fragment key={at}>{renderStrong(part)}</Fragment>
    );
  });
}

function renderStrong(text: string): ReactNode {
  if (!HAN.test(text) || !STRONG.test(text)) return text;
  return text.split(STRONG).map((part, at) => (at % 2 ? <strong key={at}>{part}</strong> : part));
}

function renderLink(url: string, words: ReactNode): ReactNode {
  if (!SAFE_LINK.test(url)) return words;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {words}
    </a>
  );
}

function renderItem(node: Extract<Nodes, { type: "listItem" }>, names: Definitions): ReactNode {
  const isTask = typeof node.checked === "boolean";
  return (
    <li className={isTask ? "task" : undefined}>
      {isTask && (node.checked ? "☑ " : "☐ ")}
      {node.children.map((child, at) => (
        <Fragment key={at}>
          {child.type === "paragraph" && !node.spread ? renderChildren(child, names) : renderNode(child, names)}
        </Fragment>
      ))}
    </li>
  );
}

function Code({ text, language }: { text: string; language: string }) {
  return (
    <figure className="code">
      <figcaption>
        <span>{language}</span>
        <CopyButton text={text} />
      </figcaption>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}

function TableView({ table, names }: { table: Table; names: Definitions }) {
  const [head, ...rows] = table.children;
  const renderCells = (row: TableCell[], tag: "th" | "td") =>
    row.map((cell, at) => {
      const style = { textAlign: table.align?.[at] ?? undefined };
      return createElement(
        tag,
        { key: at, style, scope: tag === "th" ? "col" : undefined },
        renderChildren(cell, names),
      );
    });
  return (
    <div className="markdown-table" tabIndex={0}>
      <table>
        {head && (
          <thead>
            <tr>{renderCells(head.children, "th")}</tr>
          </thead>
        )}
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>{renderCells(row.children, "td")}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
