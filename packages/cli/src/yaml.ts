/** Reads files in YAML, or in JSON, which is YAML too. A refusal of their content names the line. */
import { JsonError, type PathStep, parseJson } from '@rollcall/protocol'
import { type Document, isAlias, isMap, isSeq, LineCounter, parseDocument } from 'yaml'
import { CommandError } from './failure.ts'
import { readFileOrStdin } from './input.ts'

/** A YAML file that was read: its value, and a way to name a line of it in a refusal. */
export interface YamlFile {
  readonly value: unknown
  /**
   * Runs `work`, whose input contains the value. A refusal of the value then names the line in the file.
   * @param within the path of the value in that input, which the message leaves out
   */
  refusedWithLine<Result>(work: () => Promise<Result>, within?: readonly PathStep[]): Promise<Result>
}

/**
 * Reads a file as YAML 1.2: members are unique, and times and words such as `no` are texts.
 * @throws CommandError it cannot be read, or is no YAML
 */
export async function readYaml(path: string, option?: string): Promise<YamlFile> {
  const lines = new LineCounter()
  const parsed = parseDocument(await readFileOrStdin(path, option), {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    version: '1.2',
    schema: 'core',
    resolveKnownTags: false,
  })
  const lineAt = (offset: number): number => lines.linePos(offset).line
  const [error] = [...parsed.errors, ...parsed.warnings]
  if (error !== undefined) throw new CommandError(`${path} line ${lineAt(error.pos[0])}: ${error.message}`)
  return {
    value: readYamlValue(parsed, path),
    async refusedWithLine(work, within = []) {
      try {
        return await work()
      } catch (refused) {
        const at = refusedMemberPath(refused)
        if (at === undefined || !within.every((step, index) => at[index] === step)) throw refused
        const offset = offsetAt(parsed, at.slice(within.length))
        const message = withoutPathPrefix((refused as Error).message, within)
        throw new CommandError(`${path} line ${lineAt(offset)}: ${message}`)
      }
    },
  }
}

/** The message of a refusal, without the path `within` at its beginning, because the file has only what is below it. */
function withoutPathPrefix(message: string, within: readonly PathStep[]): string {
  const prefix = within.join('.')
  const rest = message.slice(prefix.length)
  return prefix !== '' && message.startsWith(prefix) && /^(\.|: )/.test(rest) ? rest.replace(/^(\.|: )/, '') : message
}

/**
 * Reads the value of a YAML document, as strictly as JSON is read (`parseJson`).
 * @throws CommandError a value cannot be written as JSON; an alias names nothing or itself, or expands too far
 */
function readYamlValue(parsed: Document, path: string): unknown {
  try {
    return parseJson(JSON.stringify(parsed.toJS(), checkFinite))
  } catch (error) {
    if (error instanceof JsonError) throw new CommandError(`${path}: ${error.message}`)
    const problem = error instanceof ReferenceError ? error.message : 'an alias stands in what it names'
    throw new CommandError(`${path}: ${problem}`)
  }
}

/** Returns the value of a member. @throws JsonError it is a number that `JSON.stringify` would write as null, such as `.inf` */
function checkFinite(name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new JsonError(name, 'must be a finite number')
  return value
}

/**
 * The path of the member that an admin function refused; undefined for other errors. Importing the class AdminRefusal would load
 * the server.
 */
function refusedMemberPath(error: unknown): readonly PathStep[] | undefined {
  if (!(error instanceof Error) || error.name !== 'AdminRefusal' || !('at' in error)) return undefined
  return Array.isArray(error.at) && error.at.length > 0 ? error.at : undefined
}

/** The offset of a member in the text; if the member is missing, the offset of the nearest member above it. */
function offsetAt(document: Document, at: readonly PathStep[]): number {
  let node: unknown = document.contents
  let offset = document.contents?.range?.[0] ?? 0
  for (const step of at) {
    const whole = isAlias(node) ? node.resolve(document) : node
    const pair = isMap(whole) ? whole.items.find(({ key }) => String(key) === String(step)) : undefined
    const next = pair?.value ?? (isSeq(whole) ? whole.items[Number(step)] : undefined)
    const found = pair?.key ?? next
    if (found === undefined) break
    offset = findNodeOffset(found) ?? offset
    node = next
  }
  return offset
}

function findNodeOffset(node: unknown): number | undefined {
  const { range } = node as { readonly range?: readonly number[] | null }
  return range?.[0]
}
