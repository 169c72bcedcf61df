/** What the reader of a query knows of the place where it is asked, and how much of its bounds is spent. */
import type { Kind, RecordType } from '@rollcall/protocol'
import { QueryProblem } from '../problem.ts'
import type { QueryLimits, Scope } from '../query.ts'

/** One for each query that is read. Bounds are checked before the work that they bound is done. */
export class Reader {
  readonly kind: Kind
  readonly limits: QueryLimits
  #named: RecordType | undefined
  #depth = 0
  #terms = 0
  #values = 0

  constructor({ kind, recordType, limits }: Scope) {
    this.kind = kind
    this.limits = limits
    this.#named = recordType
  }

  /** The record type that was named so far, or the kind's default. */
  get recordType(): RecordType {
    return this.#named ?? this.kind.record_types[0]
  }

  /** The same place, for a reader that counts for itself. */
  get scope(): Scope {
    return { kind: this.kind, recordType: this.#named, limits: this.limits }
  }

  /** The query itself names a record type: the one that was named before, if any was. */
  name(recordType: RecordType, path: string): void {
    if (this.#named !== undefined && this.#named !== recordType) {
      throw new QueryProblem(path, 'must mean the same record type as the criteria around the query')
    }
    this.#named = recordType
  }

  /** Reads what stands one level deeper. A problem ends the whole query, so that the level need not be left then. */
  within<Read>(path: string, read: () => Read): Read {
    if (this.#depth >= this.limits.depth) {
      throw new QueryProblem(path, `must not be nested deeper than ${this.limits.depth} levels`)
    }
    this.#depth += 1
    const result = read()
    this.#depth -= 1
    return result
  }

  /** So many members stand here, each with at least one condition. */
  room(count: number, path: string): void {
    if (this.#terms + count > this.limits.terms) throw this.#tooManyTerms(path)
  }

  /** One more condition. */
  term(path: string): void {
    this.room(1, path)
    this.#terms += 1
  }

  /** So many more values of a list. */
  values(count: number, path: string): void {
    this.#values += count
    if (this.#values <= this.limits.values) return
    throw new QueryProblem(path, `a query must have at most ${this.limits.values} values in its lists`)
  }

  #tooManyTerms(path: string): QueryProblem {
    return new QueryProblem(path, `a query must have at most ${this.limits.terms} conditions`)
  }
}
