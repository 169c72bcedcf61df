/** What is wrong with a query: thrown by every reader of a form, given its code by who asked (a search, a filter). */
export class QueryProblem extends Error {
  override readonly name = 'QueryProblem'
  /** The member, from where the query stands: `query[0].expression1.operator`; '' for the query as a whole. */
  readonly path: string
  /** The rule: what would be accepted there. Never a value of the query: it may be about a person. */
  readonly rule: string

  constructor(path: string, rule: string) {
    super(`${path}: ${rule}`)
    this.path = path
    this.rule = rule
  }
}

/** A text that cannot be parsed as what it is meant to be; a search has a code of its own for it (N20). */
export class UnreadableQuery extends QueryProblem {}
