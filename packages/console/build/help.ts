/** The help of the console: files of docs/ become trees of elements when the pages are built. No HTML is taken over. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'
import { createMarkdownRenderer, type MarkdownRenderer } from 'vitepress'
import { slug } from '../../../docs/.vitepress/slug.ts'
import { type HelpDocument, type HelpNode, TAGS, type Tag } from '../src/pages/help/tree.ts'

/** The documents that an operator needs beside the pages, by their files; the first one opens first. */
export const HELP_NAMES: readonly string[] = [
  ...['console', 'message-flow', 'troubleshooting', 'deliveries'],
  ...['grants', 'approvals', 'glossary'],
]

type Token = ReturnType<MarkdownRenderer['parse']>[number]

const docs = new URL('../../../docs/', import.meta.url)
const fileOf = (name: string): string => fileURLToPath(new URL(`${name}.md`, docs))
const sourceOf = (name: string): string => readFileSync(fileOf(name), 'utf8')
const titleOf = (name: string): string => /^# (.+)$/m.exec(sourceOf(name))?.[1] ?? name

const renderer = createMarkdownRenderer(fileURLToPath(docs), {
  highlight: (code) => code,
  anchor: { slugify: slug, permalink: () => undefined },
})

/** Makes the tree of a document in docs/. @throws Error it has what the help cannot show, such as a picture or HTML */
export async function helpDocument(name: string): Promise<HelpDocument> {
  const tokens = (await renderer).parse(sourceOf(name), { path: fileOf(name) })
  const end = tokens.findIndex(({ type }) => type === 'heading_close')
  return { title: titleOf(name), nodes: nodesOf(tokens.slice(end + 1), name) }
}

interface Open {
  readonly tag: Tag
  readonly token: Token
  readonly children: HelpNode[]
}

/** Makes nodes of the help from tokens of Markdown. @param page the name of their document */
function nodesOf(tokens: readonly Token[], page: string): readonly HelpNode[] {
  const root: HelpNode[] = []
  const open: Open[] = []
  for (const token of tokens) {
    const inner = open.at(-1)?.children ?? root
    // Hidden tokens are the paragraphs of a list without empty lines.
    if (token.hidden) continue
    if (token.nesting === 1) open.push({ tag: tagOf(token, page), token, children: [] })
    else if (token.nesting === -1) {
      const closed = open.pop()
      if (closed !== undefined) (open.at(-1)?.children ?? root).push(elementOf(closed, page))
    } else if (token.type === 'inline') inner.push(...nodesOf(token.children ?? [], page))
    else inner.push(leafOf(token, page))
  }
  return root
}

function tagOf({ tag, type }: Token, page: string): Tag {
  const known = TAGS.find((one) => one === tag)
  if (known === undefined) throw new Error(`docs/${page}.md: the help cannot show ${type}`)
  return known
}

const LEAVES: Readonly<Record<string, (content: string) => HelpNode>> = {
  text: (content) => content,
  softbreak: () => ' ',
  code_inline: (content) => ({ tag: 'code', children: [content] }),
  fence: (content) => ({ tag: 'pre', children: [content] }),
}

function leafOf({ type, content }: Token, page: string): HelpNode {
  const leaf = LEAVES[type]
  if (leaf === undefined) throw new Error(`docs/${page}.md: the help cannot show ${type}`)
  return leaf(content)
}

function elementOf({ tag, token, children }: Open, page: string): HelpNode {
  if (tag === 'a') return linkOf(token.attrGet('href') ?? '', children, page)
  const id = token.attrGet('id')
  return { tag, children, ...(id !== null && { id }) }
}

/** A link to a document of the help leads there. Any other link becomes emphasised text: no server has documents. */
function linkOf(link: string, children: readonly HelpNode[], page: string): HelpNode {
  const [file = '', anchor] = link.split('#')
  const name = file === '' ? page : file.replace(/\.md$/, '')
  const isFileName = children.length === 1 && children[0] === file
  if (!HELP_NAMES.includes(name)) return { tag: 'em', children: isFileName ? [`docs/${file}`] : children }
  const href = `#/help/${name}${anchor === undefined ? '' : `/${anchor}`}`
  return { tag: 'a', href, children: isFileName ? [titleOf(name)] : children }
}

const LIST = 'virtual:help'
/** The beginning of the module name of each document. The names of their built files begin with `manual-`. */
const FILE = `${LIST}/manual-`

/** A plugin of Vite: the module `virtual:help` lists the documents, and each document is a file of its own. */
export function helpPlugin(): Plugin {
  return {
    name: 'rollcall-help',
    resolveId: (id) => (id === LIST || id.startsWith(FILE) ? `\0${id}` : null),
    async load(id) {
      if (id.startsWith(`\0${FILE}`)) {
        return `export const document = ${JSON.stringify(await helpDocument(id.slice(FILE.length + 1)))}`
      }
      if (id !== `\0${LIST}`) return null
      const rows = HELP_NAMES.map((one) => {
        const named = JSON.stringify({ name: one, title: titleOf(one) }).slice(0, -1)
        return `${named},"load":() => import(${JSON.stringify(`${FILE}${one}`)})}`
      })
      return `export const HELP = [${rows.join(',')}]`
    },
  }
}
