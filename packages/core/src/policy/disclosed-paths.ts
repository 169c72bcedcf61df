/** The paths of the values in a disclosed record, for the audit entry. */
import type { JsonObject, JsonValue } from '@rollcall/protocol'
import { JSON_LD_STRUCTURE_MEMBERS } from './cut.ts'

/** The most paths and lists of paths, together, that a collector keeps in memory: by GraphQL aliases, peers choose the names. */
const MOST_PATHS_IN_COLLECTOR = 10_000

interface PathNode {
  readonly path: string
  readonly number: number
  readonly below: Map<string, PathNode>
  /** The last record that had a value at this path: its number in the order in which the collector read records. */
  record: number
}

/** Collects the paths of the values in records. Equal paths, and equal lists of paths, are remembered as one object. */
export class PathCollector {
  #root = makePathNode('', 0)
  readonly #lists = new Map<string, readonly string[]>()
  #made = 0
  #records = 0

  /**
   * The paths of the values in a record, each once, in the order of the record; `@type` and `@context` are left out. An empty
   * list or object counts as a value. Equal results are the same object, except that a collector with more than
   * `MOST_PATHS_IN_COLLECTOR` paths and lists forgets them all and begins again.
   */
  collect(record: JsonValue): readonly string[] {
    if (this.#made + this.#lists.size > MOST_PATHS_IN_COLLECTOR) {
      this.#root = makePathNode('', 0)
      this.#lists.clear()
      this.#made = 0
    }
    this.#records += 1
    const found: PathNode[] = []
    this.#add(record, this.#root, found)
    const key = found.map(({ number }) => number).join()
    const known = this.#lists.get(key) ?? found.map(({ path }) => path)
    this.#lists.set(key, known)
    return known
  }

  #add(value: JsonValue, at: PathNode, found: PathNode[]): void {
    if (Array.isArray(value) && value.length > 0) {
      for (const element of value) this.#add(element, at, found)
      return
    }
    const names = typeof value === 'object' && value !== null ? Object.keys(value) : []
    if (names.length === 0) {
      if (at.record === this.#records || at === this.#root) return
      at.record = this.#records
      found.push(at)
      return
    }
    for (const name of names) {
      if (JSON_LD_STRUCTURE_MEMBERS.includes(name)) continue
      let node = at.below.get(name)
      if (node === undefined) {
        this.#made += 1
        node = makePathNode(at === this.#root ? name : `${at.path}.${name}`, this.#made)
        at.below.set(name, node)
      }
      this.#add((value as JsonObject)[name] ?? null, node, found)
    }
  }
}

const makePathNode = (path: string, number: number): PathNode => ({ path, number, below: new Map(), record: 0 })
