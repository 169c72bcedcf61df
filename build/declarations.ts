/** The types of a package as a public surface: what its entries export, read from the declarations that TypeScript writes. */
import { join } from 'node:path'
import type { Fact, Surface } from './surface.ts'

/** Declaration files by their paths, as `readDeclarations` returns them. */
type Files = ReadonlyMap<string, string>

interface Module {
  /** The texts of its declarations by name. An overloaded function has several. */
  readonly declared: ReadonlyMap<string, readonly string[]>
  /** The names that it takes from other modules, or gives on: the module, and the name there. */
  readonly imported: ReadonlyMap<string, readonly [from: string, name: string]>
  readonly exported: ReadonlySet<string>
}

/** Packages of the workspace that may be imported by name. */
const ENTRIES: Readonly<Record<string, string>> = { '@rollcall/protocol': 'protocol/src/index.ts' }

/**
 * What the entries export, and the types that these name: those that are not exported by the name of their package as well.
 * @throws Error where a module is not among the files
 */
export function declarationSurface(files: Files, entries: readonly string[]): Surface {
  const modules = new Map<string, Module>()
  const facts: Record<string, Fact> = {}
  const moduleAt = (path: string): Module => {
    const text = files.get(path.replace(/\.ts$/, '.d.ts'))
    if (text === undefined) throw new Error(`${path} has no declarations`)
    const read = modules.get(path) ?? readModule(text)
    modules.set(path, read)
    return read
  }
  /** The module that declares the name. Undefined for names that no module has, and for other packages. */
  const declaring = (path: string, name: string): readonly [path: string, name: string] | undefined => {
    const { declared, imported } = moduleAt(path)
    if (declared.has(name)) return [path, name]
    const [from = '', there = ''] = imported.get(name) ?? []
    const next = from.startsWith('.') ? join(path, '..', from) : ENTRIES[from]
    return next === undefined ? undefined : declaring(next, there)
  }
  /** The name in the surface, by module and exported name. */
  const names = new Map<string, string>()
  for (const entry of entries) {
    for (const name of moduleAt(entry).exported) {
      const found = declaring(entry, name)
      if (found !== undefined) names.set(found.join(' '), name)
    }
  }
  // Declarations that are added on the way are read as well.
  for (const [found, as] of names) {
    const [path = '', name = ''] = found.split(' ')
    for (const text of moduleAt(path).declared.get(name) ?? []) {
      const isSchema = text.includes('import("typebox")')
      addFacts(facts, as, isSchema ? [`${name}: schema`] : text.split('\n'))
      for (const [word] of isSchema ? [] : text.matchAll(/[A-Za-z_$][\w$]*/g)) {
        const used = declaring(path, word)
        const at = used?.join(' ')
        if (used !== undefined && at !== undefined && !names.has(at)) {
          names.set(at, `${used[0].split('/')[0]}/${used[1]}`)
        }
      }
    }
  }
  return facts
}

const NAMES = /^(import|export)( type)? \{ (.*?),? \} from '(.*)';$/
const DECLARATION = /^(export )?(?:declare )?(?:abstract )?(?:class|const|function|interface|type) ([\w$]+)/

/** Statements begin at the left, and the lines of their members are indented. */
function readModule(text: string): Module {
  const [declared, imported, exported] = [new Map<string, string[]>(), new Map(), new Set<string>()]
  for (const statement of text.split(/\n(?![\s})\]])/)) {
    const [, keyword, , names = '', from = ''] = NAMES.exec(statement) ?? []
    for (const given of names === '' ? [] : names.split(', ')) {
      const [name = '', as = name] = given.replace('type ', '').split(' as ')
      imported.set(as, [from, name])
      if (keyword === 'export') exported.add(as)
    }
    const [, isExported, name] = DECLARATION.exec(statement) ?? []
    if (name === undefined) continue
    declared.set(name, [...(declared.get(name) ?? []), statement.trimEnd()])
    if (isExported !== undefined) exported.add(name)
  }
  return { declared, imported, exported }
}

/** Adds a declaration with its members, and theirs: each is one line, and one that opens a bracket ends with the line that closes it. */
function addFacts(facts: Record<string, Fact>, name: string, lines: readonly string[]): void {
  // Users of a class or value need not give its new members; users of an interface or type may have to.
  const isGiven = /^(?:export )?(?:declare )?(?:interface|type) /.test(lines[0] ?? '')
  const open: { readonly path: string; text: string; readonly required: boolean }[] = []
  const close = (depth: number): void => {
    for (const { path, text, required } of open.splice(depth)) addFact(facts, path, text, required)
  }
  for (const line of lines) {
    const text = line.trim()
    const depth = (line.length - line.trimStart().length) / 4
    if (/^[})\]]/.test(text)) {
      close(depth + 1)
      const last = open[depth]
      // Members of alternatives are members of all.
      if (last !== undefined) last.text += ` ${text}`
      continue
    }
    close(depth)
    const member = /^(?:(?:readonly|static|get|set) )*('[^']*'|[#\w$]+|\[[^\]]*\])(\??)/.exec(text)
    const path = depth === 0 ? name : `${open[depth - 1]?.path}.${(member?.[1] ?? text).replaceAll(/[.[\]]/g, '_')}`
    open.push({ path, text, required: depth > 0 && isGiven && member?.[2] !== '?' })
  }
  close(0)
}

function addFact(facts: Record<string, Fact>, path: string, text: string, required: boolean): void {
  const before = facts[path]
  const types = [...new Set([...(before?.types ?? []), ...alternatives(shortened(text))])].sort()
  facts[path] = { direction: 'declaration', required: required && (before?.required ?? true), types, rules: {} }
}

/** A further alternative of the same form adds nothing to the text. Sentences may be written in another way. */
const shortened = (text: string): string =>
  text
    .replace(/^export /, '')
    .replace(/(?: (\}[^{}]*\{))(?: \1)+/g, ' $1')
    .replace(/'[^']*'|"[^"]*"/g, (literal) => (literal.includes(' ') ? 'string' : literal))
    .replace(/;$/, '')

const LITERAL = /(?:'[^']*'|"[^"]*"|-?\d+)/.source
const UNION = new RegExp(`^(.*?)(?<!\\| )(${LITERAL}(?: \\| ${LITERAL})+)(?! [|&])(.*)$`)

/** Values of a union of literals may be added, so that each is a text; what has none is one text. */
function alternatives(text: string): readonly string[] {
  const [, before, values, after] = UNION.exec(text) ?? []
  return values === undefined ? [text] : values.split(' | ').map((value) => `${before}${value}${after}`)
}
